/** Compares the feed in a database with what a reader of the stream got. */
import type Database from 'better-sqlite3'
import { QUIET_TYPES } from '../../../src/events/vocabulary.ts'
import type { ReadEvent } from '../world/reader.ts'

/** Events that were read twice, in the wrong order, or not at all. The last were recorded before `until`, in ms. */
export function faultsOfFeed(db: Database.Database, read: readonly ReadEvent[], until: number): string[] {
  const last = read.at(-1)?.seq ?? 0
  const expected = db
    .prepare<[number, number], ReadEvent>(
      'select seq, id, type from events where seq <= ? or recorded_at < ? order by seq',
    )
    .all(last, until)
    .filter(({ type }) => !QUIET_TYPES.includes(type as never))
  const got = new Map(read.map((event) => [event.seq, event]))
  return [
    ...read.flatMap(({ seq }, index) =>
      index > 0 && seq <= (read[index - 1]?.seq ?? 0) ? [`the reader got ${seq} again or too late`] : [],
    ),
    ...expected.flatMap(({ seq, id, type }) =>
      got.get(seq)?.id === id ? [] : [`the reader missed ${type} ${seq}`],
    ),
  ]
}
