/** Checks of the database: condition, pragmas of the connection that writes, and the length of its log. */
import { statSync } from 'node:fs'
import { conditionFinding } from '../../health/condition.ts'
import { examineDisk } from '../../health/disk_findings.ts'
import { examineErasures } from '../../health/erasure_findings.ts'
import { examineBacklog } from '../../health/figures_backlog.ts'
import { type DoctorContext, NO_DATABASE, NO_SERVER } from '../context.ts'
import { error, type Outcome, ok, outcomeOf, skipped, warning } from '../result.ts'

/** Whether the database can be written, and whether the disk or SQLite reported a fault in the last week. */
export function checkDatabase({ config, reader, databaseProblem, serving, clock }: DoctorContext): Outcome[] {
  const condition = serving === null ? null : conditionFinding(serving.condition(), config.store.path)
  const problem = condition === null ? databaseProblem : outcomeOf(condition)
  if (problem !== null) return [problem]
  if (reader === null) return [skipped(NO_DATABASE)]
  const faults = [...examineDisk(reader, clock)].map((finding) =>
    outcomeOf(finding, { subject: finding.details?.id ?? 'fault' }),
  )
  const version = reader.prepare<[], { user_version: number }>('pragma user_version').get()?.user_version
  return faults.length > 0
    ? faults
    : [
        ok(
          `${config.store.path}, version ${version}, can be read${serving === null ? '' : ' and written'}. No fault was reported in the last seven days.`,
        ),
      ]
}

/** What `src/store/store.ts` sets. Without the first two, a 2xx does not mean that the data is on the disk. */
const PRAGMAS: Readonly<Record<string, unknown>> = {
  journal_mode: 'wal',
  synchronous: 2,
  foreign_keys: 1,
  secure_delete: 1,
  wal_autocheckpoint: 0,
  mmap_size: 0,
  trusted_schema: 0,
  cell_size_check: 1,
}

/** The pragmas, read back from the connection that writes. Another connection only sees the journal mode. */
export function checkPragmas({ reader, serving }: DoctorContext): Outcome {
  if (serving === null && reader === null) return skipped(NO_DATABASE)
  const read = (name: string): unknown =>
    serving === null
      ? Object.values(reader?.prepare<[], object>(`pragma ${name}`).get() ?? {})[0]
      : serving.pragma(name)
  const names = serving === null ? ['journal_mode'] : Object.keys(PRAGMAS)
  const values = names.map((name) => ({ name, value: read(name) }))
  const wrong = values.filter(({ name, value }) => value !== PRAGMAS[name])
  const textOf = (all: typeof values): string => all.map(({ name, value }) => `${name} = ${value}`).join(', ')
  if (wrong.length > 0) {
    const expected = wrong.map(({ name }) => `${name} = ${PRAGMAS[name]}`).join(', ')
    const remedy = 'Restart Windfall. If that does not help, another program changes the database; end it.'
    return error(`Read back ${textOf(wrong)}; expected ${expected}.`, remedy)
  }
  if (serving !== null) return ok(`${textOf(values)}.`)
  return ok(`${textOf(values)}. ${NO_SERVER} The other pragmas belong to its connection.`)
}

const MEGABYTE = 1_048_576
const LONG_LOG_BYTES = 64 * MEGABYTE

/** The length of the write-ahead log. It restarts at about 4 MB, unless a reader keeps the database open. */
export function checkLog({ config, reader, serving }: DoctorContext): Outcome {
  if (reader === null) return skipped(NO_DATABASE)
  const bytes = statSync(`${config.store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const detail = `The write-ahead log has ${(bytes / MEGABYTE).toFixed(1)} MB.`
  if (bytes <= LONG_LOG_BYTES) return ok(detail)
  const remedy =
    serving === null
      ? 'Start Windfall: it applies the log to the database.'
      : 'Find the program that keeps the database open: `fuser -v FILE`. A long export, a `sqlite3` shell and a stopped replication are the usual ones. End it.'
  return warning(`${detail} A reader that stays open prevents that it restarts.`, remedy)
}

/** Metrics that lag behind, and purchases that cannot be computed. */
export const checkMetrics = ({ reader, clock }: DoctorContext): Outcome[] =>
  reader === null
    ? [skipped(NO_DATABASE)]
    : [...examineBacklog(reader, clock)].map((finding) =>
        outcomeOf(finding, finding.details && { subject: finding.details.id }),
      )

/** Whether data of erased users is still in the write-ahead log. */
export function checkErasures({ reader, clock }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  const pending = [...examineErasures(reader, clock)].map((finding) => outcomeOf(finding))
  return pending.length > 0 ? pending : [ok('No data of an erased user is left in the write-ahead log.')]
}
