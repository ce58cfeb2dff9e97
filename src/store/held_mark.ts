/**
 * Marks a database whose outgoing requests are held: it was restored or copied, so the original may still serve. The
 * mark is stored in the database, so that it exists before the first start.
 */
import * as v from 'valibot'
import { openSetting } from './setting.ts'
import type { Store } from './store.ts'

/** Why and when outgoing requests were held, in milliseconds since the epoch. */
const HeldMark = v.object({ reason: v.picklist(['restored', 'copied']), at: v.number() })
export type HeldMark = v.InferOutput<typeof HeldMark>

/** Opens the mark. `set` and `clear` must run inside a unit of work. */
export function openHeldMark(store: Pick<Store, 'prepare'>) {
  const setting = openSetting(store, 'outgoing_held')

  /** The mark; null if nothing is held. */
  function get(): HeldMark | null {
    const text = setting.get()
    return text === null ? null : v.parse(HeldMark, JSON.parse(text))
  }

  return { get, set: (mark: HeldMark): void => setting.set(JSON.stringify(mark)), clear: setting.clear }
}
