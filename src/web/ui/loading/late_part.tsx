/** Parts of a view whose code loads when they are first shown. */
import type { FunctionComponent, JSX } from 'preact'
import lazy from 'preact-iso/lazy'
import { Unloaded } from './unloaded_view.tsx'

/** A component that loads when it is first shown. Without its code it says what is missing and asks for a reload. */
export const latePart = <Props,>(what: string, load: () => Promise<FunctionComponent<Props>>) =>
  lazy<FunctionComponent<Props>>(() => load().catch(() => (): JSX.Element => <Unloaded what={what} />))
