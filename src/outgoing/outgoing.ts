/** What every module that sends requests to the owner’s addresses shares. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import { openHeld } from './held.ts'
import { openSecrets } from './secrets.ts'

/** Opens the held state and the secrets. A database that is recognized as a copy is held from now on. */
export async function openOutgoing(deps: { store: Store; clock: Clock }) {
  return { held: await openHeld(deps), secrets: openSecrets(deps.store) }
}
