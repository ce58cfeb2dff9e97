/** Findings about requests that leave the server: held requests, and secrets that cannot be read. */
import { utcMinuteText } from '../days.ts'
import { type Finding, fault, warning } from '../health/findings.ts'
import { openHeldMark } from '../store/held_mark.ts'
import type { Store } from '../store/store.ts'
import { KEY_REMEDY, openSecrets } from './secrets.ts'

const REASONS = { restored: 'the database was restored', copied: 'the database is a copy' }

/** Yields a warning while outgoing requests are held, and a fault if the sealing key cannot be used. */
export function* examineOutgoing(store: Pick<Store, 'prepare' | 'file'>): Generator<Finding> {
  const held = openHeldMark(store).get()
  if (held !== null) {
    const words = `${REASONS[held.reason]} on ${utcMinuteText(held.at)}, and the original may still serve.`
    const action = { label: 'Resume', command: 'windfall outgoing resume' }
    const remedy = 'To send from this server, run windfall outgoing resume'
    const details = {
      id: 'outgoing:held',
      title: 'Outgoing requests are held',
      since: held.at,
      action,
      remedy,
    }
    yield warning('outgoing', words, details)
  }
  const { words } = openSecrets(store).state()
  if (words !== null) {
    const details = { id: 'outgoing:key', title: 'Secrets cannot be read', remedy: KEY_REMEDY }
    yield fault('secrets', `${words}.`, details)
  }
}
