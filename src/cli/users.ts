/** The command `windfall users`: users who were only ever claimed and are not seen any more, dropped. */
import { defineCommand } from 'citty'
import type { PruneProgress } from '../attribution/prune.ts'
import { Refusal } from '../errors.ts'
import { configArg, plural, print, printError, withInstance } from './instance/instance.ts'
import { follow } from './instance/progress.ts'

const prune = defineCommand({
  meta: {
    name: 'prune',
    description:
      'Drop users unseen for long whom no secret key and no attested device ever named, and who have no purchase',
  },
  args: {
    'unseen-for': {
      type: 'string',
      required: true,
      valueHint: 'DAYS',
      description: 'How many days ago the last identify call for them is, at least',
    },
    'dry-run': { type: 'boolean', description: 'Only count them' },
    ...configArg,
  },
  async run({ args }) {
    const unseen_days = days(args['unseen-for'])
    const isDry = args['dry-run'] === true
    const { users } = await withInstance(args.config, (send) =>
      follow<{ users: number }, PruneProgress>(send, {
        verb: isDry ? 'users.prunable.show' : 'users.prune',
        args: { unseen_days },
        status: 'users.prune.status',
        progressText,
      }),
    )
    const pruned = `${plural(users, 'user')} unseen for ${plural(unseen_days, 'day')}`
    print(isDry ? `${pruned} would be pruned.` : `${pruned} ${users === 1 ? 'was' : 'were'} pruned.`)
    if (isDry && users > 0) printError('Run without --dry-run to delete them.')
  },
})

function days(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= 36_500) return Number(text)
  throw new Refusal(400, 'invalid_request', `--unseen-for takes 1 to 36500 days; ${text} is not among them`)
}

const progressText = ({ done, of }: PruneProgress): string =>
  `${done.toLocaleString('en-US')} of ${plural(of, 'user')} looked at`

export const usersCommand = defineCommand({
  meta: { name: 'users', description: 'Delete users that no authenticated call ever named' },
  subCommands: { prune },
})
