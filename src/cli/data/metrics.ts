/** The command `windfall rebuild metrics`: recomputes all metrics from the facts. */
import { defineCommand } from 'citty'
import type { RebuildProgress } from '../../metrics/metrics.ts'
import { configArg, plural, withInstance } from '../instance/instance.ts'
import { print } from '../instance/output.ts'
import { follow } from '../instance/progress.ts'

const progressText = ({ done, of }: RebuildProgress): string =>
  `${done.toLocaleString('en-US')} of ${plural(of, 'purchase')}`

const metrics = defineCommand({
  meta: {
    name: 'metrics',
    description: 'Rebuild all metrics from the facts; shows the previous figures until done',
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
    print(`Rebuilt the metrics of ${plural(lineages, 'purchase')}.`)
  },
})

export const rebuildCommand = defineCommand({
  meta: { name: 'rebuild', description: 'Rebuild derived data from source data' },
  subCommands: { metrics },
})
