/** Reports erasures whose data stays in the write-ahead log, because a program keeps the database open. */
import type { Clock } from '../clock.ts'
import type { Reader } from '../store/reader.ts'
import { type Finding, warning } from './findings.ts'

/** Litestream lets the log restart within two minutes. Erasures that wait for longer are a finding. */
const MAX_PENDING_MS = 600_000

type Pending = { erasures: number; since: number | null }

/** Yields a warning if the log has had data of erased users for more than ten minutes. */
export function* examineErasures(reader: Reader, clock: Clock): Generator<Finding> {
  const { erasures, since } = reader
    .prepare<[number], Pending>(`
      select count(*) as erasures, min(asked_at) as since from erasures
      where finished_at is null and app_user_id is null and asked_at <= ?`)
    .get(clock() - MAX_PENDING_MS) ?? { erasures: 0, since: null }
  if (erasures === 0) return
  const log = `${reader.file}-wal`
  const users = erasures === 1 ? 'an erased user' : `${erasures} erased users`
  const text =
    `old pages with the data of ${users} are still in ${log}, because another program keeps the database open. ` +
    'Windfall removes them when it can. Find the program and end it, or restart it.'
  const title = 'Erased data is still in the write-ahead log'
  const action = { label: 'Find the program', command: `fuser -v ${log}` }
  yield warning('erasure', text, { id: 'erasure:log', title, since, action })
}
