/** Reports a database that cannot be written. */
import type { StoreCondition } from '../store/store.ts'
import { damagedFinding } from './disk_findings.ts'
import { type Finding, fault } from './findings.ts'

/** The finding for the condition of the database `file`; null if the database can be written. */
export function conditionFinding(condition: StoreCondition, file: string): Finding | null {
  if (condition === 'ok') return null
  if (condition === 'damaged') return damagedFinding('writes fail')
  const words = {
    full: 'the disk is full. Windfall answers notifications and calls with 503, and Apple retries.',
    failing: 'writes fail. Windfall answers notifications with 503, and Apple retries.',
    replaced: `${file} was replaced or deleted while Windfall was using it, so Windfall no longer writes.`,
  }[condition]
  const remedy = {
    full: 'Free up space; Windfall then resumes automatically.',
    failing: 'See the log for the cause.',
    replaced:
      'Run windfall backup FILE now; the original data can still be read. Then stop Windfall, which saves another copy next to that path, and run windfall restore FILE.',
  }[condition]
  const title = condition === 'full' ? 'The disk is full' : 'The database cannot be written'
  return fault('database', words, { id: 'database', title, remedy })
}
