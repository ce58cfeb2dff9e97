/** The commands `windfall rebuild metrics` and `windfall verify`: what is derived, made anew or held against the facts. */
import { defineCommand } from 'citty'
import type { Verified } from '../metrics/comparison.ts'
import type { RebuildProgress } from '../metrics/metrics.ts'
import { configArg, counted, print, withInstance } from './instance.ts'
import { follow } from './progress.ts'

const inWords = ({ done, of }: RebuildProgress): string =>
  `${done.toLocaleString('en-US')} of ${counted(of, 'purchase')}`

const metrics = defineCommand({
  meta: {
    name: 'metrics',
    description: 'Make all metrics anew from the facts; what is shown stays until they are made',
  },
  args: configArg,
  async run({ args }) {
    const { lineages } = await withInstance(args.config, (ask) =>
      follow<{ lineages: number }, RebuildProgress>(ask, {
        ...{ verb: 'metrics.rebuild', args: {}, status: 'metrics.status', inWords },
      }),
    )
    print(`The metrics of ${counted(lineages, 'purchase')} are made anew.`)
  },
})

export const rebuildCommand = defineCommand({
  meta: { name: 'rebuild', description: 'Make what is derived anew from what Apple said' },
  subCommands: { metrics },
})

export const verifyCommand = defineCommand({
  meta: { name: 'verify', description: 'Prove that the metrics are those that the facts give' },
  args: configArg,
  async run({ args }) {
    const { lineages, difference } = await withInstance(args.config, (ask) =>
      follow<Verified, RebuildProgress>(ask, {
        ...{ verb: 'metrics.verify', args: {}, status: 'metrics.status', inWords },
      }),
    )
    if (difference === null) {
      print(`The metrics are those that the facts of ${counted(lineages, 'purchase')} give.`)
      return
    }
    print(`A difference: ${difference}`)
    print('windfall rebuild metrics makes them anew; please report how it came to this.')
    process.exitCode = 1
  },
})
