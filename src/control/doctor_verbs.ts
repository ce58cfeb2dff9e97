/** The control verbs of `windfall doctor` and `windfall support`, and of a restore drill. */
import * as v from 'valibot'
import type { Windfall } from '../app.ts'
import { processState } from '../doctor/process_state.ts'
import { openDrillLog } from '../store/backup/drills.ts'
import { type Verbs, verb } from './socket.ts'

const RunChecks = v.object({ test: v.boolean() })
const Drill = v.object({ file: v.pipe(v.string(), v.nonEmpty()), organization_ids: v.array(v.string()) })

export function doctorVerbs({ doctor, store, clock, health, jobs }: Windfall): Verbs {
  const drills = openDrillLog(store)

  return {
    'doctor.run': verb(RunChecks, ({ test }) => doctor.run(test)),
    'doctor.status': verb(v.object({}), () => ({ progress: doctor.running() })),
    'support.show': verb(v.object({}), async () => ({
      process: processState(),
      findings: await health.findings(),
      jobs: jobs.list(),
    })),
    'backup.drill': verb(Drill, async ({ file, organization_ids }) => ({
      recorded: await store.commit(() => drills.note({ at: clock(), file }, organization_ids)),
    })),
  }
}
