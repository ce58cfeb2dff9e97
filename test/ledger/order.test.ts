import fc from 'fast-check'
import { expect, test } from 'vitest'
import { APPLE_HOSTS } from '../../src/apple/api/hosts.ts'
import { openVerifier, type Verified, type Verifier } from '../../src/apple/jws/signed.ts'
import { type Notification, verifyNotification, verifyTransaction } from '../../src/apple/notification.ts'
import type { Transaction } from '../../src/apple/payloads.ts'
import { type SubscriptionFacts, verifySubscription } from '../../src/apple/subscription.ts'
import { openAccounts } from '../../src/apps/accounts.ts'
import { openAppleClients } from '../../src/apps/apple_clients.ts'
import { openApps } from '../../src/apps/apps.ts'
import { openOrganizations } from '../../src/apps/organizations.ts'
import { openProducts } from '../../src/apps/products.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openSimulation } from '../../src/demo/simulation.ts'
import type { Step } from '../../src/demo/world/steps.ts'
import type { TransactionBody, UnsignedNotification } from '../../src/demo/world/unsigned.ts'
import { openFeed } from '../../src/events/feed.ts'
import { EVENT_TYPES } from '../../src/events/vocabulary.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Arrival } from '../../src/ledger/origin.ts'
import { openImports } from '../../src/ledger/reports/imports.ts'
import { openLog } from '../../src/log.ts'
import { openFigures } from '../../src/metrics/figures.ts'
import { FORMULA } from '../../src/metrics/upkeep/generations.ts'
import { compareAtOnce } from '../../src/metrics/verification/comparison.ts'
import { openRates } from '../../src/rates/rates.ts'
import { openStoppages } from '../../src/stoppages.ts'
import { openStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock, rowsOf, sharedAuthority } from '../helpers.ts'
import { runs } from '../random.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)

type Fact =
  | { kind: 'notification'; verified: Verified<Notification> }
  | { kind: 'transaction'; verified: Verified<Transaction> }
  | { kind: 'status'; facts: SubscriptionFacts }

/** The ways in which a fact of each kind can arrive. The fact does not depend on the way. */
const WAYS: Record<Fact['kind'], readonly Arrival[]> = {
  notification: [
    { origin: 'live', source: 'push' },
    { origin: 'recovered', source: 'history' },
    { origin: 'backfill', source: 'history' },
  ],
  transaction: [
    { origin: 'live', source: 'device' },
    { origin: 'backfill', source: 'transactions' },
  ],
  status: [{ origin: 'backfill', source: 'status' }],
}

/**
 * The same transaction as Apple might have signed it at another time: at the same instant with other content, long
 * afterwards with later facts, or before Apple had offers and prices in it.
 */
function otherVersions(transaction: TransactionBody, index: number): object[] {
  const { offerType, offerDiscountType, offerIdentifier, price, currency, ...bare } = transaction
  if (index % 7 === 0) return [{ ...bare, signedDate: bare.signedDate - 1 }]
  if (index % 7 === 1) return [{ ...bare, signedDate: bare.signedDate + DAY }]
  if (index % 7 === 2) return [{ ...transaction, appAccountToken: 'another' }]
  if (index % 7 === 3 && bare.expiresDate)
    return [{ ...transaction, expiresDate: bare.expiresDate + 3 * DAY }]
  return []
}

/** What Apple's statuses would have shown some time after a notification: the same texts, or signed again. */
async function statusAfter(
  verifier: Verifier,
  { data }: UnsignedNotification,
  index: number,
): Promise<SubscriptionFacts | null> {
  if (index % 10 > 1 || !data?.signedTransactionInfo || !data.signedRenewalInfo) return null
  const { sign } = await sharedAuthority()
  const signedDate = data.signedTransactionInfo.signedDate + (index % 10 === 0 ? 0 : 2 * DAY)
  const transaction = { ...data.signedTransactionInfo, signedDate }
  const renewal = { ...data.signedRenewalInfo, signedDate }
  return verifySubscription(
    verifier,
    { transaction: sign(transaction), renewal: sign(renewal) },
    {
      bundle_id: transaction.bundleId,
      environment: transaction.environment === 'Production' ? 'production' : 'sandbox',
      original_transaction_id: transaction.originalTransactionId,
    },
  )
}

/** The content of a notification, in all the ways that Apple may deliver it. */
async function proveNotification(
  verifier: Verifier,
  step: Extract<Step, { kind: 'notification' }>,
  index: number,
): Promise<Fact[]> {
  const { sign } = await sharedAuthority()
  const facts: Fact[] = [
    { kind: 'notification', verified: await verifyNotification(verifier, step.body.signedPayload) },
  ]
  const transaction = step.payload.data?.signedTransactionInfo
  for (const other of transaction ? otherVersions(transaction, index) : []) {
    facts.push({ kind: 'transaction', verified: await verifyTransaction(verifier, sign(other)) })
  }
  const status = await statusAfter(verifier, step.payload, index)
  return status ? [...facts, { kind: 'status', facts: status }] : facts
}

/** Every signed text of a history, verified once. */
async function proveHistory(verifier: Verifier, seed: number, subscribers: number): Promise<Fact[]> {
  const authority = await sharedAuthority()
  const from = UNTIL - 500 * DAY
  const simulation = openSimulation({ seed, from, until: UNTIL, subscribers, edgeCases: true, authority })
  const facts: Fact[] = []
  for (const [index, step] of [...simulation.steps()].entries()) {
    if (step.kind === 'notification') {
      facts.push(...(await proveNotification(verifier, step, index)))
    } else if (step.kind === 'attribute' && step.body.jws) {
      const verified = await verifyTransaction(verifier, step.body.jws)
      facts.push({ kind: 'transaction', verified })
    }
  }
  return facts
}

/** The ledger and its metrics on a separate database. App ids are fixed, because other ids are hashed from them. */
async function openLedgerIn(folder: string, bundles: readonly string[]) {
  const store = openStore(`${folder}/windfall.db`)
  const clock = handClock(UNTIL)
  const feed = openFeed(store, clock)
  const apps = openApps(store, clock)
  const organizations = openOrganizations(store, clock)
  const ledger = openLedger({ store, clock, feed, apps })
  const products = openProducts(store, clock)
  const rates = openRates({ store, clock, settings: { fetch: false } })
  const log = openLog({ format: 'json', level: 'error' })
  const wait = () => Promise.resolve()
  const accounts = openAccounts()
  const appleClients = openAppleClients({
    accounts,
    clock,
    hosts: APPLE_HOSTS,
    current: { config: { apple: { icons: false } } },
    wait,
  })
  const { config } = loadConfig({ env: {}, cwd: folder })
  const settings = { ...config.metrics, ...config.users }
  const { metrics } = openFigures({
    store,
    clock,
    apps,
    organizations,
    products,
    rates,
    ledger,
    feed,
    log,
    stoppages: openStoppages({ clock, monotonic: clock, log }),
    imports: openImports({ store, clock, feed, apps, accounts, appleClients, wait, log }),
    factors: 'calendar',
    config: settings,
    isErased: () => false,
  })
  ledger.onChange(metrics.lineageChanged)
  await store.commit(() => {
    organizations.declare([])
    for (const bundle_id of bundles) apps.add(organizations.resolve(null).id, { bundle_id }, 'test')
    store.prepare("update apps set id = 'app/' || bundle_id").run()
  })
  await metrics.resume()
  return { store, feed, apps, ledger, metrics }
}
type Opened = Awaited<ReturnType<typeof openLedgerIn>>

/** Applies facts in the given order, and reopens the database at each of `restarts`. */
async function ledgerOf(
  facts: readonly Fact[],
  bundles: readonly string[],
  restarts: readonly number[] = [],
) {
  const folder = temporaryFolder()
  let opened = await openLedgerIn(folder.path, bundles)
  const bounds = [0, ...restarts, facts.length]
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    if (index > 0) {
      await opened.metrics.close()
      await opened.store.close()
      opened = await openLedgerIn(folder.path, bundles)
    }
    const part = facts.slice(from, bounds[index + 1])
    await Promise.all(part.map((fact, number) => applyTo(opened, fact, number)))
  }
  // Recomputing gives the same, in any order of arrival.
  await opened.metrics.whenCurrent()
  // On this thread, because a worker would load the whole program in each history.
  if (restarts.length > 0) {
    const { file } = opened.store
    expect(compareAtOnce({ file, at: UNTIL, formula: FORMULA }).difference).toBeNull()
  }
  const state = stateOf(opened)
  await opened.metrics.close()
  await opened.store.close()
  folder.remove()
  return state
}

function applyTo({ store, ledger, apps }: Opened, fact: Fact, number: number) {
  const { bundle_id } = fact.kind === 'status' ? fact.facts.transaction.payload : fact.verified.payload
  const [app] = apps.byBundle(bundle_id)
  const way = WAYS[fact.kind][number % WAYS[fact.kind].length]
  if (!app || !way) throw new Error(`${bundle_id} is not connected`)
  return store.commit(() => {
    if (fact.kind === 'notification') return ledger.apply(app, fact.verified, way)
    if (fact.kind === 'transaction') return ledger.applyTransaction(app, fact.verified, way)
    return ledger.applyStatus(app, fact.facts, way)
  })
}

/**
 * Ledger and customers whole, events as (environment, type, cause). Which row holds the text of a fact depends on
 * the order of arrival, and is not part of the fact.
 */
function stateOf({ store, feed }: Opened) {
  const rows = (table: string) => rowsOf(store, table, ['payload_id', 'origin', 'received_at'])
  const events = feed.read({ after: 0, limit: 1_000_000, types: EVENTS_OF_THE_RULE })
  return {
    notifications: rows('notifications'),
    transactions: rows('transactions'),
    refunds: rows('refunds'),
    reversals: rows('refund_reversals'),
    renewals: rows('renewals'),
    subscriptions: rows('subscriptions'),
    customers: rows('customers'),
    bridges: rows('customer_bridges'),
    payloads: rowsOf(store, 'signed_payloads', ['id', 'source', 'received_at', 'body', 'codec']),
    metrics: named(store, METRIC_ROWS),
    days: named(store, METRIC_DAYS),
    events: events.map((event) => `${event.environment} ${event.type} ${event.cause}`).sort(),
  }
}

const METRIC_ROWS = `
  select app_id, environment, original_transaction_id, metric_rows.*, 0 as lineage_id
  from metric_rows join metric_lineages on id = lineage_id`
const METRIC_DAYS = `
  select app_id, environment, zone, measure, dimension, value, day, milli, base_milli, count
  from metric_days join metric_series on id = series_id where milli <> 0 or base_milli <> 0 or count <> 0`

/** Rows by natural keys instead of the numbers that depend on the order of arrival. */
const named = ({ prepare }: Opened['store'], sql: string): string[] =>
  prepare<[], object>(sql)
    .all()
    .map((row) => JSON.stringify({ ...row, lineage_id: 0 }))
    .sort()

const EVENTS_OF_THE_RULE = EVENT_TYPES.filter((type) => !type.startsWith('customer.'))

const shuffled = <T>(items: readonly T[], chance: Iterator<number>): T[] =>
  items
    .map((item) => [chance.next().value as number, item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

const history = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  subscribers: fc.integer({ min: 1, max: 3 }),
  chance: fc.infiniteStream(fc.nat()),
})

const TITLE =
  'any order, repetition and restart of a history’s facts leaves the same ledger, customers, metrics and events; a part of them a part of the events'

test(TITLE, { timeout: 3_600_000 }, async () => {
  const authority = await sharedAuthority()
  const verifier = openVerifier({ roots: [authority.root_pem], clock: () => UNTIL })
  const { apps } = openSimulation({ seed: 1, from: UNTIL - DAY, until: UNTIL, subscribers: 1, authority })
  const bundles = apps.map((app) => app.bundle_id)
  const seen = { facts: 0, statuses: 0, conversions: 0, refunds: 0, merged: 0 }
  const property = fc.asyncProperty(history, async ({ seed, subscribers, chance }) => {
    const facts = await proveHistory(verifier, seed, subscribers)
    const baseline = await ledgerOf(facts, bundles)
    seen.facts += facts.length
    seen.statuses += facts.filter(({ kind }) => kind === 'status').length
    seen.conversions += baseline.events.filter((event) => event.includes('trial.converted')).length
    seen.refunds += baseline.events.filter((event) => event.includes('refunded')).length
    seen.merged += baseline.customers.filter(
      (row) => !row.includes(`"canonical_id":"${JSON.parse(row).id}"`),
    ).length

    const again = shuffled([...facts, ...facts.filter((_, index) => index % 3 === 0)], chance)
    const restarts = [Math.floor(again.length / 3), Math.floor(again.length / 2)]
    expect(await ledgerOf(again, bundles, restarts)).toEqual(baseline)

    const part = shuffled(facts, chance).slice(0, Math.ceil(facts.length / 2))
    const whole = new Set(baseline.events)
    const { events } = await ledgerOf(part, bundles)
    expect(events.filter((event) => !whole.has(event))).toEqual([])
  })
  await fc.assert(property, runs(60, 5_000))
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10)
})
