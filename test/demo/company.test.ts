import { expect, onTestFinished, test } from 'vitest'
import { openCompany, openWithHistory, purchasesPerMinute, SUBSCRIBERS } from '../../src/cli/demo/company.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Entry } from '../../src/demo/world/books.ts'
import { openLog } from '../../src/log.ts'
import { temporaryFolder } from '../folders.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test('an hour of the demo sells less than a usual day, and the first minutes sell something', async () => {
  const { simulation, until, close } = await openCompany({ seed: 1, subscribers: SUBSCRIBERS.usual })
  onTestFinished(async () => void (await close()))
  simulation.skip(until)
  for (let at = until; at < until + HOUR; at += 1_000)
    for (const _step of simulation.advance(at, { purchases_per_minute: purchasesPerMinute(at - until) }));
  const sold = (kind: Entry['kind'], from: number, to: number) =>
    simulation.books.entries.filter(
      (entry) =>
        entry.kind === kind && entry.environment === 'production' && entry.at >= from && entry.at < to,
    ).length
  const month = { from: until - 28 * DAY, to: until }
  expect(sold('charge', until, until + HOUR)).toBeLessThan(sold('charge', month.from, month.to) / 28)
  // Trials last a week, so an hour's are compared with a week's.
  expect(sold('trial_started', until, until + HOUR)).toBeLessThan(
    sold('trial_started', month.from, month.to) / 4,
  )
  const first = until + 5 * 60_000
  expect(sold('charge', until, first) + sold('trial_started', until, first)).toBeGreaterThan(0)
})

test('the first figures of the demo include amounts in every currency', async () => {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const company = await openCompany({ seed: 2, subscribers: SUBSCRIBERS.min })
  onTestFinished(async () => void (await company.close()))
  const { config } = loadConfig({ env: {}, cwd: folder.path })
  const log = openLog({ format: 'json', level: 'error', write: () => {} })
  const windfall = await openWithHistory(company, config, log)
  onTestFinished(() => windfall.close())
  const revenue = async () => {
    const { token } = await windfall.store.commit(() =>
      windfall.tokens.create('test', { organization_id: null, apps: null }),
    )
    const headers = { authorization: `Bearer ${token}` }
    const path = '/api/v1/metrics/revenue?interval=month&split=currency'
    const { series } = (await (await windfall.http.app.request(path, { headers })).json()) as {
      series: object[]
    }
    return series
  }
  const first = await revenue()
  await windfall.rates.refresh(AbortSignal.timeout(HOUR))
  await windfall.metrics.whenCurrent()
  expect(await revenue()).toEqual(first)
  expect(first.length).toBeGreaterThan(0)
})
