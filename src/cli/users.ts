/** The command `windfall users`: deletes unverified users that have not been seen for a while. */
import { defineCommand } from 'citty'
import type { PruneProgress } from '../attribution/prune.ts'
import { Refusal } from '../errors.ts'
import { configArg, plural, withInstance } from './instance/instance.ts'
import { print, printError } from './instance/output.ts'
import { follow } from './instance/progress.ts'

const prune = defineCommand({
  meta: { name: 'prune', description: 'Delete users without a purchase that have not been seen for a while' },
  args: {
    'unseen-for': {
      type: 'string',
      required: true,
      valueHint: 'DAYS',
      description: 'Minimum number of days since the last identify call',
    },
    'dry-run': { type: 'boolean', description: 'Only count the users' },
    ...configArg,
  },
  async run({ args }) {
    const unseen_days = parseDays(args['unseen-for'])
    const isDryRun = args['dry-run'] === true
    const { users } = await withInstance(args.config, (send) =>
      follow<{ users: number }, PruneProgress>(send, {
        verb: isDryRun ? 'users.prunable.show' : 'users.prune',
        args: { unseen_days },
        status: 'users.prune.status',
        progressText,
      }),
    )
    const usersText = `${plural(users, 'user')} unseen for ${plural(unseen_days, 'day')}`
    print(isDryRun ? `${usersText} would be pruned.` : `${usersText} ${users === 1 ? 'was' : 'were'} pruned.`)
    if (isDryRun && users > 0) printError('Run without --dry-run to delete them.')
  },
})

function parseDays(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= 36_500) return Number(text)
  throw new Refusal(400, 'invalid_request', `--unseen-for must be 1 to 36500 days, not ${text}`)
}

const progressText = ({ done, of }: PruneProgress): string =>
  `${done.toLocaleString('en-US')} of ${plural(of, 'user')} checked`

export const usersCommand = defineCommand({
  meta: { name: 'users', description: 'Delete inactive users without a purchase' },
  subCommands: { prune },
})
