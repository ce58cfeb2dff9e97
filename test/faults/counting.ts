/**
 * `windfall serve` for tests of metrics. It trusts the root in ROOT_PEM. Test commands set reported periods, and compare the
 * metrics with metrics recomputed from the ledger.
 */
import { isMainThread } from 'node:worker_threads'
import * as v from 'valibot'
import type { Windfall } from '../../src/app.ts'
import { startServer, stopSignal } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type Verbs, verb } from '../../src/control/socket.ts'
import { faultsOfFigures } from '../metrics/upkeep/recomputed.ts'

const Period = v.object({ bundle_id: v.string(), product_id: v.string(), period: v.string() })

/** The commands that tests send to the control socket. */
function testVerbs(windfall: Windfall): Verbs {
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

  return { 'test.period': verb(Period, learnPeriod), 'test.compare': verb(v.object({}), compare) }
}

async function main(): Promise<void> {
  const { ROOT_PEM = '', ...env } = process.env
  const load = () => loadConfig({ env, cwd: process.cwd() })
  const server = await startServer({ load, world: { roots: [ROOT_PEM] }, verbs: testVerbs })
  await stopSignal()
  await server.close()
}

if (isMainThread) await main()
