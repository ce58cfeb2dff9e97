/** Removes an erased user from stored events. Nothing else ever changes a stored event. */
import type { Store } from '../store/store.ts'
import { decodeBody, encodeBody, inflateBody } from './codec.ts'
import { type ScrubTarget, scrubEvent } from './scrubbed.ts'

/** The number of seqs that are scanned before requests are served. */
const SLICE = 250

type Row = { seq: number; type: string; cause: string; body: Buffer }
type Change = Omit<Row, 'type'>

/** Opens the scrubbing of stored events. */
export function openScrubbing(store: Pick<Store, 'prepare'>) {
  const selectSlice = store.prepare<[number, number, string], Row>(
    'select seq, type, cause, body from events where seq > ? and seq <= ? and app_id = ?',
  )
  const update = store.prepare<Change>('update events set cause = :cause, body = :body where seq = :seq')

  /**
   * Scans a slice of the events after `after` up to `until` for a user. `reached` is the last seq scanned, `changed`
   * the number of events that name the user. `apply` rewrites those events; call it inside a unit of work.
   */
  function scan(target: ScrubTarget, after: number, until: number) {
    const reached = Math.min(after + SLICE, until)
    const mayName = matcherOf(target.app_user_id)
    const changes = selectSlice
      .all(after, reached, target.app_id)
      .flatMap((row) => (mayName(row.body) ? changeOf(row, target) : []))
    return {
      reached,
      changed: changes.length,
      apply: () => {
        for (const change of changes) update.run(change)
      },
    }
  }

  return { scan }
}

/** Returns a test for bodies that contain the text of the user id. It is much cheaper than decoding the body. */
function matcherOf(app_user_id: string): (body: Buffer) => boolean {
  const spellings = new Set([app_user_id, app_user_id.toLowerCase()])
  const needles = [...spellings].map((text) => Buffer.from(JSON.stringify(text).slice(1, -1)))
  return (body) => {
    const text = inflateBody(body)
    return needles.some((needle) => text.includes(needle))
  }
}

function changeOf({ seq, type, cause, body }: Row, target: ScrubTarget): Change[] {
  const before = { app_id: target.app_id, type, cause, data: decodeBody(body) }
  const after = scrubEvent(before, target)
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  return [{ seq, cause: after.cause, body: encodeBody(after.data) }]
}
