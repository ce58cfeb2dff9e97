/** Cursors of exports: how far the append-only tables and the change log had grown when an export began. */
import { createHash } from 'node:crypto'
import { Refusal } from '../errors.ts'
import type { Store } from '../store/store.ts'

/** The newest row of the change log, the newest seq of the feed, and the newest stored payload. */
export type Position = Readonly<{ change: number; event: number; payload: number }>

type LoggedRow = { source: string; app_id: string; key: string }

const CURSOR = /^c1-(\d{1,15})-(\d{1,15})-(\d{1,15})-([0-9a-f]{16})$/

/** Whether a text has the form of a cursor. */
export const isCursor = (text: string): boolean => CURSOR.test(text)

export type Positions = ReturnType<typeof openPositions>

export function openPositions(store: Pick<Store, 'prepare'>) {
  const newest = store.prepare<[], Position>(`
    select ifnull((select max(change) from row_changes), 0) as change,
           ifnull((select max(seq) from events), 0) as event,
           ifnull((select max(id) from signed_payloads), 0) as payload`)
  const oldestChange = store.prepare<[], { change: number | null }>(
    'select min(change) as change from row_changes',
  )
  const changeAt = store.prepare<[number], LoggedRow>(
    'select source, app_id, key from row_changes where change = ?',
  )
  const eventAt = store.prepare<[number], { id: string }>('select id from events where seq = ?')
  const payloadAt = store.prepare<[number], { sha256: Uint8Array }>(
    'select sha256 from signed_payloads where id = ?',
  )

  /** The position now. */
  const now = (): Position => newest.get() ?? { change: 0, event: 0, payload: 0 }

  /** The cursor of a position. Its fingerprint is that of the rows at the position. */
  const cursorOf = (position: Position): string =>
    `c1-${position.change}-${position.event}-${position.payload}-${fingerprintOf(position)}`

  function fingerprintOf({ change, event, payload }: Position): string {
    const logged = changeAt.get(change)
    const parts = [
      logged ? `${logged.source}/${logged.app_id}/${logged.key}` : '',
      eventAt.get(event)?.id ?? '',
      Buffer.from(payloadAt.get(payload)?.sha256 ?? []).toString('hex'),
    ]
    return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)
  }

  /**
   * The position of a cursor.
   *
   * @throws Refusal 400 `invalid_cursor`; 410 `cursor_expired` if the change log no longer reaches back to it, or if the
   * database is another one, such as a restored backup.
   */
  function positionOf(cursor: string): Position {
    const [, change, event, payload, fingerprint] = CURSOR.exec(cursor) ?? []
    if (fingerprint === undefined)
      throw new Refusal(400, 'invalid_cursor', `${cursor} is not the cursor of an export`)
    const position = { change: Number(change), event: Number(event), payload: Number(payload) }
    if (!isLogged(position) || fingerprintOf(position) !== fingerprint) throw expired()
    return position
  }

  /** Whether the change log has every change after a position. */
  function isLogged({ change }: Pick<Position, 'change'>): boolean {
    const oldest = oldestChange.get()?.change ?? 1
    return change === 0 ? oldest === 1 : change >= oldest
  }

  return { now, cursorOf, positionOf, isLogged }
}

const expired = (): Refusal =>
  new Refusal(
    410,
    'cursor_expired',
    'the changes since this cursor are no longer known, or the database was restored; export without a cursor and replace the copy',
  )
