/** Makes the documented example of each event type from the simulated App Store. The result is always the same. */
import { createHash } from 'node:crypto'
import { fill } from '../../../src/demo/fill.ts'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import type { Step } from '../../../src/demo/world/steps.ts'
import type { TransactionBody } from '../../../src/demo/world/unsigned.ts'
import type { NewEvent } from '../../../src/events/feed.ts'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { finishedEvent } from '../../../src/ledger/reports/finished_event.ts'
import { emptyImportCounts } from '../../../src/ledger/reports/import_stats.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../../helpers.ts'
import { connectTo, DAY, liveUntil, openShop } from '../../ledger/history/connected_shop.ts'
import { exampleHistory } from './example_history.ts'
import { type Body, bodiesOf, parsed } from './opened.ts'

const FROM = Date.UTC(2026, 0, 5, 9)

/** The examples by type, in the order of `EVENT_TYPES`. */
export async function madeExamples(): Promise<Record<string, Body>> {
  const bodies = [...(await bodiesOfHistory()), ...(await bodiesOfGaps())]
  const examples = EVENT_TYPES.map((type) => {
    const all = bodies.filter((body) => body.type === type)
    return [type, all.find(({ data }) => data.customer?.users.length) ?? all[0]]
  })
  return withLastingIds(Object.fromEntries(examples.filter(([, body]) => body !== undefined)))
}

/** The bodies of the whole history, each made when its event was recorded. */
async function bodiesOfHistory(): Promise<Body[]> {
  const clock = handClock(FROM)
  const app = await openTestApp({
    clock,
    apps: APPS.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id })),
  })
  await importRates(app)
  const authorization = `Bearer ${await app.key('secret')}`
  const lineages: Lineages = new Map()
  const bodies: Body[] = []
  for (const step of exampleHistory({ from: FROM, authority: await sharedAuthority() })) {
    clock.set(step.at)
    await linkOnce(app, step, lineages, { authorization })
    bodies.push(...(await newBodies(app, bodies)))
    await fill(app.windfall, [step], clock, () => {})
    bodies.push(...(await newBodies(app, bodies)))
  }
  await moveAndMerge(app, lineages, { authorization })
  await appendOthers(app)
  return [...bodies, ...(await newBodies(app, bodies))]
}

/** Rates of a dollar, the same on each day of the history. */
const PER_USD = { EUR: 0.92, GBP: 0.79, JPY: 149, AUD: 1.52, BRL: 5.4, CAD: 1.37, MXN: 18.2, SEK: 10.6 }

async function importRates({ windfall, clock }: TestApp): Promise<void> {
  const days = Array.from({ length: 240 }, (_, day) =>
    new Date(FROM + (day - 5) * DAY).toISOString().slice(0, 10),
  )
  const lines = days.flatMap((day) => Object.entries(PER_USD).map(([code, rate]) => `${day},${code},${rate}`))
  clock.set(FROM + 240 * DAY)
  const read = windfall.rates.readCsv(['date,currency,rate', ...lines].join('\n'), 'USD')
  await windfall.store.commit(() => windfall.rates.importRates(read))
  clock.set(FROM)
}

async function newBodies(app: TestApp, before: readonly Body[]): Promise<Body[]> {
  await app.windfall.metrics.whenCurrent()
  const after = before.at(-1)?.seq ?? 0
  return parsed(await bodiesOf(app).make(app.feed(EVENT_TYPES).filter(({ seq }) => seq > after)))
}

type Headers = { authorization: string }
/** The first transaction of each lineage. */
type Lineages = Map<string, TransactionBody>

/** The backend links each lineage to a user, before its first notification. */
async function linkOnce(app: TestApp, step: Step, lineages: Lineages, headers: Headers): Promise<void> {
  const transaction = step.kind === 'notification' ? step.payload.data?.signedTransactionInfo : undefined
  if (transaction === undefined || lineages.has(transaction.originalTransactionId)) return
  const { originalTransactionId, bundleId } = transaction
  const appUserId = `user_${1001 + lineages.size}`
  lineages.set(originalTransactionId, transaction)
  const attributes = { team: 'north', seats: 3 }
  await app.post('/api/sdk/v1/identify', { appUserId, bundleId, platform: 'ios', attributes }, headers)
  const jws = app.authority.sign(transaction)
  await attribute(app, { appUserId, bundleId, originalTransactionId, jws }, headers)
}

async function attribute(app: TestApp, call: object, headers: Headers): Promise<void> {
  const { status, body } = await app.post('/api/sdk/v1/attribute', call, headers)
  if (status !== 200) throw new Error(`attribute returned ${status} ${body.code}`)
}

/** Another user claims a purchase, whose signature then shows the Apple account of another purchase too. */
async function moveAndMerge(app: TestApp, lineages: Lineages, headers: Headers): Promise<void> {
  const [one, ...others] = [...lineages.values()]
  const other = others.find(
    ({ bundleId, appTransactionId }) =>
      bundleId === one?.bundleId && appTransactionId !== one.appTransactionId,
  )
  if (one === undefined || other === undefined) throw new Error('the history has no two customers of an app')
  const { originalTransactionId, bundleId } = one
  const jws = app.authority.sign({
    ...one,
    appTransactionId: other.appTransactionId,
    signedDate: app.clock(),
  })
  await attribute(app, { appUserId: 'user_2001', bundleId, originalTransactionId, jws }, headers)
}

/** The events that no notification carries. */
async function appendOthers({ windfall, organization, clock }: TestApp): Promise<void> {
  const now = clock()
  const tally = { ...emptyImportCounts(), read: 4, empty: 1, rows: 212 }
  const plan = [{ day: '2026-06-14', kind: 'sales' }]
  const endpoint = { endpoint: { id: 'whe_5a0c6c1be2f94d17', name: 'backend' } }
  const endpointEvent = (type: NewEvent['type'], cause: string, data: object): NewEvent => ({
    organization_id: organization.id,
    app_id: null,
    environment: null,
    type,
    origin: 'live',
    customer_id: null,
    subject: null,
    cause: `whe_5a0c6c1be2f94d17:${cause}`,
    occurred_at: now,
    signed_at: null,
    data: () => ({ ...endpoint, ...data }),
  })
  await windfall.store.commit(() => {
    windfall.feed.append(
      finishedEvent({ organization_id: organization.id, tally, plan: plan as never, isFirst: false }, now),
    )
    windfall.feed.append(endpointEvent('endpoint.paused', 'five_days', { reason: 'five_days' }))
    windfall.feed.append(endpointEvent('endpoint.disabled', 'gone_410', { reason: 'gone_410' }))
    const failing_since = now - 600_000
    windfall.feed.append(endpointEvent('endpoint.recovered', 'recovered', { failing_since }))
    const [{ id: first_event_id = '' } = {}, { id: last_event_id = '' } = {}] = windfall.feed.read({
      after: 0,
      limit: 2,
    })
    const reason =
      'All 10 attempts failed. The receiver answered 400. It refuses this event: look at the response.'
    const losses = { count: 2, first_event_id, last_event_id, reason }
    windfall.feed.append(endpointEvent('delivery.failed', 'failed', losses))
  })
}

/** A connected store, of which a day of notifications was lost and then recovered. */
async function bodiesOfGaps(): Promise<Body[]> {
  const shop = await openShop({ subscribers: 12, days: 20 })
  const app = await connectTo(shop)
  await app.windfall.history.backfill()
  const from = shop.clock()
  shop.simulation.lose({ from, until: from + DAY })
  await liveUntil(shop, app, from + DAY, 0.02)
  shop.clock.turn(120_000)
  await app.windfall.history.reconcile()
  return parsed(await bodiesOf(app).make(app.feed(['gap.found', 'gap.filled'])))
}

/** Replaces ids that differ in each database: each by a hash of its number in order of appearance. */
function withLastingIds(examples: Record<string, Body>): Record<string, Body> {
  const known = new Map<string, string>()
  const lasting = (id: string, prefix: string, random: string): string => {
    const fresh = createHash('sha256').update(`example ${known.size}`).digest('hex')
    const next = known.get(id) ?? `${prefix}_${fresh.slice(0, random.length)}`
    known.set(id, next)
    return next
  }
  const text = JSON.stringify(examples)
  return JSON.parse(text.replace(/\b(org|app|cus|evt|gap|imp)_([0-9a-f]{16,24})\b/g, lasting))
}
