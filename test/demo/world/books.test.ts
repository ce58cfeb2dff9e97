import { expect, test } from 'vitest'
import { endOfSegment, halfEven, openBooks } from '../../../src/demo/world/books.ts'
import type { TransactionBody } from '../../../src/demo/world/unsigned.ts'
import { nonEmpty } from '../../non_empty.ts'
import {
  type AboutTransaction,
  aboutTransactions,
  DAY,
  FROM,
  nameOf,
  open,
  play,
  UNTIL,
} from '../run_simulation.ts'

const normal = play({ seed: 6 })
const { steps, books } = normal
const odd = Array.from({ length: 40 }, (_, seed) =>
  play({ seed: 100 + seed, subscribers: 5, edgeCases: true }),
)
/** Every event before this instant is delivered by the end of the history. */
const SETTLED = UNTIL - 3 * DAY

const histories = [normal, ...odd].map((history) => {
  const about = aboutTransactions(history.notifications)
  return { books: history.books, about, counted: about.filter(isCounted) }
})
type History = (typeof histories)[number]
const { about } = histories[0] ?? { about: [] }

function isCounted({ transaction: t }: AboutTransaction): boolean {
  return t.environment === 'Production' && t.inAppOwnershipType === 'PURCHASED'
}

function add(totals: Record<string, number>, t: TransactionBody, amount: number): void {
  if (t.currency !== undefined) totals[t.currency] = (totals[t.currency] ?? 0) + amount
}

function chargedBy({ counted }: History): Record<string, number> {
  const totals: Record<string, number> = {}
  const distinct = new Map(counted.map((a) => [a.transaction.transactionId, a.transaction]))
  for (const t of distinct.values()) if (t.purchaseDate < SETTLED && t.price) add(totals, t, t.price)
  return totals
}

test('charges equal the sum of the prices of distinct purchases', () => {
  for (const history of histories)
    expect(history.books.charged({ until: SETTLED, has_price: true })).toEqual(chargedBy(history))
  expect(Object.keys(books.charged()).length).toBeGreaterThan(6)
})

function refundedBy({ counted }: History): Record<string, number> {
  const totals: Record<string, number> = {}
  const refunded = new Map<string, number>()
  for (const { payload, transaction: t } of counted) {
    if (payload.signedDate >= SETTLED) continue
    if (payload.notificationType === 'REFUND') {
      const share = BigInt(t.revocationPercentage ?? 100_000)
      refunded.set(t.transactionId, halfEven(BigInt(t.price ?? 0) * share, 100_000n))
      add(totals, t, refunded.get(t.transactionId) ?? 0)
    }
    if (payload.notificationType === 'REFUND_REVERSED') add(totals, t, -(refunded.get(t.transactionId) ?? 0))
  }
  return totals
}

test('refunds equal the sum of the refund notifications, less reversals', () => {
  for (const history of histories)
    expect(history.books.refunded({ until: SETTLED })).toEqual(refundedBy(history))
})

/** Each transaction as last signed, with the latest end of grace that was granted on it. */
function lineages({ counted }: History): Map<string, { t: TransactionBody; grace: number }[]> {
  const byId = new Map<string, { t: TransactionBody; grace: number }>()
  for (const { transaction: t, renewal, payload } of counted) {
    if (t.type !== 'Auto-Renewable Subscription') continue
    const of = payload.notificationType === 'DID_FAIL_TO_RENEW' ? (renewal?.gracePeriodExpiresDate ?? 0) : 0
    byId.set(t.transactionId, { t, grace: Math.max(of, byId.get(t.transactionId)?.grace ?? 0) })
  }
  const grouped = Map.groupBy(byId.values(), ({ t }) => t.originalTransactionId)
  for (const list of grouped.values()) list.sort((a, b) => a.t.purchaseDate - b.t.purchaseDate)
  return grouped
}

function aliveIn(
  groups: ReturnType<typeof lineages>,
  at: number,
  wanted: (t: TransactionBody) => boolean,
): string[] {
  const alive: string[] = []
  for (const list of groups.values()) {
    for (const [index, { t, grace }] of list.entries()) {
      const next = list[index + 1]?.t.purchaseDate ?? Infinity
      const end = Math.min(Math.max(t.expiresDate ?? 0, grace), next, t.revocationDate ?? Infinity)
      if (t.purchaseDate <= at && at < end && wanted(t)) alive.push(t.transactionId)
    }
  }
  return alive.sort()
}

function isTrial(t: TransactionBody): boolean {
  return t.offerType === 1 && t.offerDiscountType === 'FREE_TRIAL'
}

test('active subscriptions and trials of any day match the payloads', () => {
  const ids = (segments: { transaction_id: string }[]) => segments.map((s) => s.transaction_id).sort()
  for (const history of histories) {
    const groups = lineages(history)
    for (let at = FROM; at < SETTLED; at += 11 * DAY + 12_345_678) {
      expect(ids(history.books.activeSubscriptions(at))).toEqual(aliveIn(groups, at, (t) => t.price !== 0))
      expect(ids(history.books.activeTrials(at))).toEqual(aliveIn(groups, at, isTrial))
    }
  }
  expect(books.activeSubscriptions(SETTLED).length).toBeGreaterThan(200)
})

test('about two of five trials convert, each with its own transaction', () => {
  const of = (kind: string) => books.entries.filter((e) => e.kind === kind).map((e) => e.transaction_id)
  const started = of('trial_started')
  const converted = of('trial_converted')
  expect(new Set(converted).size).toBe(converted.length)
  expect(converted.every((id) => started.includes(id))).toBe(true)
  expect(converted.filter((id) => of('trial_expired').includes(id))).toEqual([])
  expect(converted.length / started.length).toBeGreaterThan(0.33)
  expect(converted.length / started.length).toBeLessThan(0.5)
})

test('the books have every event as often as Apple’s notifications do', () => {
  const kinds: Record<string, string> = {
    'SUBSCRIBED/RESUBSCRIBE': 'resubscribed',
    'DID_RENEW/BILLING_RECOVERY': 'recovered',
    'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED': 'renewal_enabled',
    'DID_FAIL_TO_RENEW/GRACE_PERIOD': 'grace_started',
    'REVOKE/-': 'revoked',
    'RENEWAL_EXTENDED/-': 'extended',
    'CONSUMPTION_REQUEST/-': 'consumption_requested',
    'REFUND_DECLINED/-': 'refund_declined',
  }
  for (const [name, kind] of Object.entries(kinds)) {
    const those = about.filter((a) => nameOf(a.payload) === name && a.payload.signedDate < SETTLED)
    const booked = books.entries.filter((e) => e.kind === kind && e.at < SETTLED).map((e) => e.transaction_id)
    expect(booked.sort(), name).toEqual(those.map((a) => a.transaction.transactionId).sort())
    expect(booked.length, name).toBeGreaterThan(0)
  }
})

test('no segment of a lineage overlaps the next one', () => {
  for (const history of histories) {
    const grouped = Map.groupBy(history.books.segments, (s) => s.original_transaction_id)
    for (const list of nonEmpty(grouped.values())) {
      for (const [index, segment] of list.entries())
        expect(endOfSegment(segment)).toBeLessThanOrEqual(list[index + 1]?.from ?? Infinity)
    }
  }
})

test('the books include sandbox and Family Sharing, and the totals exclude them', () => {
  const sandbox = books.entries.filter((e) => e.environment === 'sandbox' && e.kind === 'charge')
  expect(sandbox.length).toBeGreaterThan(0)
  expect(Object.keys(books.charged({ environment: 'sandbox' })).length).toBeGreaterThan(0)
  expect(books.entries.some((e) => e.shared && e.kind === 'shared')).toBe(true)
  expect(books.entries.some((e) => e.shared && e.kind === 'charge')).toBe(false)
  expect(books.activeSubscriptions(SETTLED).some((s) => s.shared || s.environment === 'sandbox')).toBe(false)
})

test('each event has the period of its product', () => {
  for (const entry of nonEmpty(books.entries.filter((e) => e.kind !== 'trial_converted'))) {
    const segment = books.segmentOf(entry.environment, entry.transaction_id)
    expect(entry.period).toBe(segment?.period ?? null)
  }
})

test('totals can be limited to an app, a period or priced purchases', () => {
  const sum = (totals: Record<string, number>) => Object.values(totals).reduce((a, b) => a + b, 0)
  const whole = sum(books.charged())
  const apps = new Set(books.entries.map((e) => e.bundle_id))
  const parts = [...apps].map((bundle_id) => sum(books.charged({ bundle_id })))
  expect(parts.reduce((a, b) => a + b, 0)).toBe(whole)
  const middle = (FROM + UNTIL) / 2
  expect(sum(books.charged({ until: middle })) + sum(books.charged({ from: middle }))).toBe(whole)
  expect(sum(books.charged({ has_price: true })) + sum(books.charged({ has_price: false }))).toBe(whole)
  expect(sum(books.charged({ has_price: false }))).toBeGreaterThan(0)
  expect(sum(books.prorated())).toBeGreaterThan(0)
})

test('the last call names the user, the last proved call the proved one', () => {
  const book = openBooks()
  const base = { at: 1, bundle_id: 'app', store: 'apple' as const, transaction_id: '1' }
  const claim = (app_user_id: string, proof: string | null) => book.claim({ ...base, app_user_id, proof })
  expect(claim('a', null)).toMatchObject({ proved_app_user_id: null, verified: false, moved: false })
  expect(claim('b', 'purchase')).toMatchObject({ proved_app_user_id: 'b', verified: true, moved: true })
  expect(claim('c', null)).toMatchObject({
    app_user_id: 'c',
    proved_app_user_id: 'b',
    verified: false,
    proofs: ['purchase'],
  })
  expect(claim('b', null)).toMatchObject({ proved_app_user_id: 'b', verified: true, moved: true })
  expect(claim('d', 'server')).toMatchObject({ proved_app_user_id: 'd', proofs: ['server'], verified: false })
  expect(claim('d', 'purchase')).toMatchObject({
    proofs: ['server', 'purchase'],
    verified: true,
    moved: false,
  })
  expect(book.linkOf('app', '1')?.app_user_id).toBe('d')
  expect(book.linkOf('app', '1', 'google')).toBeNull()
})

test('the links in the books are what the calls said, call by call', () => {
  const calls = steps.filter((step) => step.kind === 'attribute')
  expect(books.links.map((l) => [l.at, l.app_user_id])).toEqual(calls.map((c) => [c.at, c.body.appUserId]))
  expect(books.links.filter((l) => l.moved).length).toBeGreaterThan(20)
  const { length } = books.links.filter((l) => l.verified)
  expect(length).toBeGreaterThan(calls.filter((c) => c.proof === 'purchase').length - 1)
})

test('identified users keep the attributes of all their calls', () => {
  const simulation = open({ seed: 9, subscribers: 80 })
  const expected = new Map<string, Record<string, unknown>>()
  for (const step of simulation.steps()) {
    if (step.kind !== 'identify') continue
    const key = `${step.bundle_id} ${step.body.appUserId}`
    expected.set(key, { ...expected.get(key), ...step.body.attributes })
  }
  const booked = [...simulation.books.users].map(([key, user]) => [key, user.fields.attributes])
  expect(booked).toEqual([...expected])
})

test('halves are rounded to the even neighbour', () => {
  expect([1n, 3n, 5n, 7n].map((n) => halfEven(n, 2n))).toEqual([0, 2, 2, 4])
  expect(halfEven(2n, 3n)).toBe(1)
  expect(halfEven(1n, 3n)).toBe(0)
})
