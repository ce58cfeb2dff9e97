/** Control verbs that count and delete inactive users that no secret key or attested device ever named. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Windfall } from '../app.ts'
import { type Verbs, verb } from './socket.ts'

const PruneArguments = v.object({
  unseen_days: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(36_500)),
})

/** The verbs `users.*`. */
export function userVerbs({ pruning, audit }: Windfall): Verbs {
  async function prune({ unseen_days }: v.InferOutput<typeof PruneArguments>) {
    const detail = `unseen for ${unseen_days} days`
    const onFirstPruned = () => audit.note({ ...COMMAND_LINE, action: 'users.pruned', detail })
    return { users: await pruning.prune({ unseen_days, onFirstPruned }) }
  }

  return {
    'users.prune': verb(PruneArguments, prune),
    'users.prunable.show': verb(PruneArguments, async ({ unseen_days }) => ({
      users: await pruning.count(unseen_days),
    })),
    'users.prune.status': verb(v.object({}), () => ({ progress: pruning.progress() })),
  }
}
