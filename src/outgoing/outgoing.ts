/** Opens what every module that sends requests to the owner’s addresses shares. */
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Store } from '../store/store.ts'
import { openDispatcher } from './dispatcher.ts'
import { openHeld } from './held.ts'
import { openSecrets } from './secrets.ts'

export type Outgoing = Awaited<ReturnType<typeof openOutgoing>>

/**
 * Opens the held state, the secrets and the dispatcher. A database that is recognized as a copy is held from now on.
 */
export async function openOutgoing(deps: { store: Store; clock: Clock; config: Pick<Config, 'outbound'> }) {
  const held = await openHeld(deps)
  return { held, secrets: openSecrets(deps.store), dispatcher: openDispatcher(deps.config.outbound) }
}
