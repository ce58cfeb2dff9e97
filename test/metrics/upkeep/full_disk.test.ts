/** A full disk: answers say that figures are outdated, and they are updated once there is room again. */
import { expect, test, vi } from 'vitest'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { NOW } from '../../apple/samples.ts'
import { expectErrors } from '../../guards/error_lines.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { level, DAY as REPORT_DAY } from '../../ledger/reports/samples.ts'
import { openShop, type Shop } from '../shop.ts'

const DAY = 86_400_000
/** A writer waits a second before it retries. */
const PATIENCE = { timeout: 20_000, interval: 50 }
/** A request that waits for figures which cannot be made takes longer than this. */
const SOON_MS = 4_000

/** Routes of one endpoint, delivery, replay, digest, widget or app. */
const OF_ONE = /^\/api\/v1\/(endpoints|deliveries|replays|alerts\/digests|widgets|apps)\/:id/
const ASK_APPLE = ['/api/v1/test-notification/:token', '/api/v1/apple-apps', '/api/v1/apple-apps.csv']
/** Routes excluded here: those of one thing that the shop does not have, those that ask Apple, and a stream that does not end. */
const isLeftOut = (path: string): boolean =>
  OF_ONE.test(path) || [...ASK_APPLE, '/api/v1/events/stream'].includes(path)

/** All endpoints that the dashboard reads, with existing ids. */
async function addressesOf({ windfall, request }: Shop, headers: Record<string, string>): Promise<string[]> {
  type Listed = { customers?: { id: string }[]; events?: { id: string }[] }
  const read = async (path: string): Promise<Listed> =>
    (await (await request(path, { headers })).json()) as Listed
  const [customer] = (await read('/api/v1/customers')).customers ?? []
  const [event] = (await read('/api/v1/events')).events ?? []
  return windfall.http
    .routes()
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/v1/') && !isLeftOut(path))
    .flatMap(({ path }) => {
      if (path.endsWith('/metrics/:name')) return METRIC_NAMES.map((name) => path.replace(':name', name))
      if (/\/cohorts(\.csv)?$/.test(path))
        return ['retention', 'ltv', 'arppu', 'recovery'].map((name) => `${path}?metric=${name}`)
      if (path === '/api/v1/batch') return `${path}?get=overview`
      const id = path.includes('/customers/') ? customer?.id : event?.id
      return path
        .replace(':id', id ?? '')
        .replace(':app_user_id', 'maria')
        .replace(':table', 'users')
    })
}

/** The lag in an answer’s body or headers; undefined where it has no figures. */
function behindIn(headers: Headers, body: string): string | null | undefined {
  const head = headers.get('x-windfall-behind')
  if (head !== null) return /reason=(\w+)/.exec(head)?.[1]
  if (!headers.get('content-type')?.includes('json')) return undefined
  const found = /"behind":(null|\{[^}]*"reason":"(\w+)")/.exec(body)
  return found ? (found[2] ?? null) : undefined
}

test.each([
  [
    'the file may not grow',
    ({ windfall: { store } }: Shop) => store.limitPages(Number(store.pragma('page_count'))),
  ],
  ['nothing can be written', ({ windfall: { store } }: Shop) => void store.pragma('query_only = on')],
])('if %s, every request of the dashboard is answered immediately', { timeout: 60_000 }, async (_, fill) => {
  expectErrors('the metrics cannot be brought up to date')
  const shop = await openShop()
  const { metrics, store } = shop.windfall
  for (let number = 1; number <= 60; number += 1) await shop.sell(number, { at: NOW - 27 * DAY })
  await shop.post('/api/sdk/v1/identify', {
    appUserId: 'maria',
    bundleId: 'com.example.lantern',
    platform: 'ios',
  })
  await metrics.whenCurrent()
  const headers = await shop.signIn()
  const addresses = await addressesOf(shop, headers)
  fill(shop)
  // All of them end.
  shop.clock.turn(8 * DAY)
  const reported = new Map<string, string | null | undefined>()
  for (const address of addresses) {
    const begun = performance.now()
    const answer = await shop.request(address, { headers })
    const body = await answer.text()
    expect([address, answer.status, performance.now() - begun < SOON_MS]).toEqual([address, 200, true])
    reported.set(address, behindIn(answer.headers, body))
  }
  const behind = [...reported].filter(([, reason]) => reason !== undefined)
  expect(behind.length).toBeGreaterThan(METRIC_NAMES.length + 5)
  // A file that may not grow may still have free pages.
  const isFull = store.condition() !== 'ok'
  if (isFull) expect(behind.filter(([, reason]) => reason !== 'store')).toEqual([])
  expect(isFull || behind.every(([, reason]) => reason === null)).toBe(true)
  store.pragma('query_only = off')
  store.limitPages(null)
  const mrr = async () =>
    (await (await shop.request('/api/v1/metrics/mrr', { headers })).json()) as { behind: unknown }
  await vi.waitFor(async () => expect((await mrr()).behind).toBeNull(), PATIENCE)
})

test('reports that could not be summed are summed once there is room again', {
  timeout: 60_000,
}, async () => {
  expectErrors('Apple’s reports could not be summed')
  const apple = await openApple()
  const { windfall, organization } = await apple.openWindfall()
  const { imports, metrics, store } = windfall
  apple.setReply('subscription', REPORT_DAY, [level()])
  // There is room for the report but not for its sums.
  imports.onDay(() => store.afterCommit(() => void store.pragma('query_only = on')))
  await imports.run({ days: 1 }).catch(() => {})
  const behind = () => metrics.behind(metrics.generations.shown(organization.id), null)
  await vi.waitFor(() => expect(behind()).toMatchObject({ report_days: 1, reason: 'store' }), PATIENCE)
  store.pragma('query_only = off')
  await vi.waitFor(() => expect(behind()).toBeNull(), PATIENCE)
})
