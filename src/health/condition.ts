/** What is wrong when the database cannot be written, and what to do. */
import type { StoreCondition } from '../store/store.ts'
import { damagedFinding } from './database_checks.ts'
import { type Finding, fault } from './findings.ts'

/** The finding for a database in this condition; null while it can be written. */
export function conditionFinding(condition: StoreCondition, file: string): Finding | null {
  if (condition === 'ok') return null
  if (condition === 'damaged') return damagedFinding('nothing can be written')
  const words = {
    full: 'the disk is full: notifications and calls are answered with 503, and Apple tries again. Make room; Windfall resumes by itself.',
    failing:
      'nothing can be written, and the log says why. Notifications are answered with 503, and Apple tries again.',
    replaced: `${file} was replaced or deleted while it is served: nothing more is written. Run windfall backup FILE now: everything until then is still open. Then stop Windfall, which saves it once more beside that path, and run windfall restore FILE.`,
  }[condition]
  const title = condition === 'full' ? 'The disk is full' : 'Nothing can be written'
  return fault('database', words, { id: 'database', title })
}
