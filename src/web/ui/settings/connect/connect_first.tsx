/** The empty state without apps: where to connect them, and how in a terminal. */
import type { JSX } from 'preact'
import { Card } from '../../parts/card.tsx'
import { CommandCopy } from '../../parts/copy.tsx'
import { ConnectLink } from './connect_link.tsx'

export const ConnectFirst = (): JSX.Element => (
  <Card title="Connect your apps">
    <div class="stack">
      <p class="small quiet">
        No app is connected yet. Drop your keys from App Store Connect on the page <em>Apple</em>: Windfall
        tries each one and connects every app that the keys can access.
      </p>
      <div>
        <ConnectLink />
      </div>
      <p class="small quiet">The same in a terminal, in Windfall’s folder on the server:</p>
      <CommandCopy text="windfall connect" />
    </div>
  </Card>
)
