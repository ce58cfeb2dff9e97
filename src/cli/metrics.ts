/** The command `windfall rebuild metrics`: what is derived is counted again from the facts. */
import { defineCommand } from 'citty'
import type { RebuildProgress } from '../metrics/metrics.ts'
import { configArg, plural, print, withInstance } from './instance/instance.ts'
import { follow } from './instance/progress.ts'

const progressText = ({ done, of }: RebuildProgress): string =>
  `${done.toLocaleString('en-US')} of ${plural(of, 'purchase')}`

const metrics = defineCommand({
  meta: {
    name: 'metrics',
    description: 'Make all metrics anew from the facts; what is shown stays until they are made',
  },
  args: configArg,
  async run({ args }) {
    const { lineages } = await withInstance(args.config, (send) =>
      follow<{ lineages: number }, RebuildProgress>(send, {
        verb: 'metrics.rebuild',
        args: {},
        status: 'metrics.status',
        progressText,
      }),
    )
    print(`The metrics of ${plural(lineages, 'purchase')} are made anew.`)
  },
})

export const rebuildCommand = defineCommand({
  meta: { name: 'rebuild', description: 'Make what is derived anew from what Apple said' },
  subCommands: { metrics },
})
