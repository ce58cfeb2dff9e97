/**
 * `windfall serve` for tests of metrics. It trusts the root in ROOT_PEM. Test commands reload the configuration, set
 * reported periods, and compare the metrics with metrics recomputed from the ledger.
 */
import { isMainThread } from 'node:worker_threads'
import * as v from 'valibot'
import { openApp } from '../../src/app.ts'
import { logOf, serve, stopSignal } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load.ts'
import { verb } from '../../src/control/socket.ts'
import { lockForServing } from '../../src/store/disk/lock.ts'
import { faultsOfFigures } from '../metrics/upkeep/recomputed.ts'

const Period = v.object({ bundle_id: v.string(), product_id: v.string(), period: v.string() })

async function main(): Promise<void> {
  const { ROOT_PEM = '', ...env } = process.env
  const load = () => loadConfig({ env, cwd: process.cwd() })
  const loaded = load()
  const { config } = loaded
  const log = logOf(config)
  const lock = lockForServing(config.store.path)
  const windfall = await openApp({
    config,
    configSources: loaded,
    clock: Date.now,
    log,
    roots: [ROOT_PEM],
    monotonic: () => performance.now(),
  })
  const { apps, metrics, products, store } = windfall

  async function learnPeriod({ bundle_id, ...declared }: v.InferOutput<typeof Period>): Promise<null> {
    const [app] = apps.byBundle(bundle_id)
    await store.commit(() => products.setReportedPeriod(app?.id ?? '', declared))
    return null
  }

  async function compare(): Promise<string[]> {
    await metrics.whenCurrent()
    const { difference } = await metrics.verify()
    return [...(difference === null ? [] : [difference]), ...(await faultsOfFigures(windfall))]
  }

  const server = await serve(windfall, config, log, {
    verbs: {
      'test.reload': verb(v.object({}), () => windfall.declare(load().config).then(() => null)),
      'test.period': verb(Period, learnPeriod),
      'test.compare': verb(v.object({}), compare),
    },
  })
  await stopSignal()
  await server.close()
  lock.release()
}

if (isMainThread) await main()
