/** What the views of figures show without any app. */
import type { JSX } from 'preact'
import { ConnectFirst } from '../settings/connect/connect_first.tsx'
import { PendingApps } from '../settings/connect/connect_pending.tsx'

export const NoApps = (): JSX.Element => (
  <>
    <PendingApps />
    <ConnectFirst />
  </>
)
