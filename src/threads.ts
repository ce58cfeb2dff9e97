/** The entry point of worker threads outside of the sources: each of these files runs its task if `workerData` names it. */
import './store/backup/archive/pack.ts'
import './store/backup/verification.ts'
import './metrics/sums/row_thread.ts'
import './metrics/verification/comparison.ts'
