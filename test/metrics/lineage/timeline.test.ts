import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Segment, timelineOf } from '../../../src/metrics/lineage/timeline.ts'
import { runs } from '../../random.ts'
import { bought, DAY, day, periodOf, renewalInfo, TRIAL } from '../facts.ts'
import { histories } from '../histories.ts'

const on = (at: number): string => new Date(at).toISOString().slice(0, 10)
const short = (segments: readonly Segment[]): string[] =>
  segments.map(({ kind, product_id, from, to }) => `${kind} ${product_id} ${on(from)} ${on(to)}`)
const timeline = (
  ...given: Parameters<typeof timelineOf> extends [infer T, infer R, unknown] ? [T, R?] : never
) => timelineOf(given[0], given[1] ?? [], periodOf)

test('a trial, paid time after it, and a gap', () => {
  const segments = timeline([
    bought('1', '2026-01-01', '2026-01-08', TRIAL),
    bought('2', '2026-01-08', '2026-02-08'),
    bought('3', '2026-03-01', '2026-04-01', { reason: 'PURCHASE' }),
  ])
  expect(short(segments)).toEqual([
    'trial monthly 2026-01-01 2026-01-08',
    'paid monthly 2026-01-08 2026-02-08',
    'paid monthly 2026-03-01 2026-04-01',
  ])
})

test('the order of the facts does not matter', () => {
  const facts = [bought('1', '2026-01-01', '2026-02-01'), bought('2', '2026-02-01', '2026-03-01')]
  expect(timeline([...facts].reverse())).toEqual(timeline(facts))
})

test('a renewal charged a day early begins when the previous paid time ends', () => {
  const segments = timeline([
    bought('1', '2026-01-02', '2026-02-02'),
    bought('2', '2026-02-01', '2026-03-02'),
  ])
  expect(short(segments)).toEqual([
    'paid monthly 2026-01-02 2026-02-02',
    'paid monthly 2026-02-02 2026-03-02',
  ])
})

test('an upgrade replaces its predecessor within the period', () => {
  const segments = timeline([
    bought('1', '2026-01-01', '2026-02-01', { is_upgraded: 1 }),
    bought('2', '2026-01-16', '2027-01-16', { product_id: 'yearly', reason: 'PURCHASE' }),
  ])
  expect(short(segments)).toEqual(['paid monthly 2026-01-01 2026-01-16', 'paid yearly 2026-01-16 2027-01-16'])
})

test('a transaction with no reason is a renewal of the same product, and a purchase of another', () => {
  const early = { reason: null }
  const same = [bought('1', '2026-01-02', '2026-02-02'), bought('2', '2026-02-01', '2026-03-02', early)]
  const other = [
    bought('1', '2026-01-02', '2026-02-02'),
    bought('2', '2026-02-01', '2026-03-02', { ...early, product_id: 'monthly_max' }),
  ]
  expect(timeline(same)[0]?.to).toBe(day('2026-02-02'))
  expect(timeline(other)[0]?.to).toBe(day('2026-02-01'))
})

test('a grace period lasts until its end, also when newer infos omit it', () => {
  const facts = [bought('1', '2026-01-01', '2026-02-01')]
  const infos = [
    renewalInfo('2026-02-01', { grace_until_at: day('2026-02-17'), in_billing_retry: 1 }),
    renewalInfo('2026-02-17', { expiration_intent: 2, in_billing_retry: 0 }),
  ]
  expect(timeline(facts, infos)).toMatchObject([{ to: day('2026-02-17'), ending: 'billing' }])
})

test('a renewal recovered within the grace period ends it', () => {
  const facts = [bought('1', '2026-01-01', '2026-02-01'), bought('2', '2026-02-05', '2026-03-05')]
  const infos = [renewalInfo('2026-02-01', { grace_until_at: day('2026-02-17'), in_billing_retry: 1 })]
  expect(short(timeline(facts, infos))).toEqual([
    'paid monthly 2026-01-01 2026-02-05',
    'paid monthly 2026-02-05 2026-03-05',
  ])
})

test('a grace period granted in the day before a purchase belongs to the previous period', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-02-01'),
    bought('2', '2026-02-01', '2026-02-08', {
      product_id: 'weekly',
      purchased_at: day('2026-02-01') + DAY / 2,
    }),
  ]
  const infos = [renewalInfo('2026-02-01', { grace_until_at: day('2026-02-17'), in_billing_retry: 1 })]
  expect(timeline(facts, infos).at(-1)?.to).toBe(day('2026-02-08'))
})

test('a refund ends the current period immediately and does not affect a past one', () => {
  const revoked = (at: string) => ({ revoked_at: day(at) })
  expect(timeline([bought('1', '2026-01-01', '2026-02-01', revoked('2026-01-10'))])).toMatchObject([
    { to: day('2026-01-10'), ending: 'refund' },
  ])
  expect(timeline([bought('1', '2026-01-01', '2026-02-01', revoked('2026-02-10'))])).toMatchObject([
    { to: day('2026-02-01'), ending: 'other' },
  ])
  expect(timeline([bought('1', '2026-01-01', '2026-02-01', revoked('2026-01-01'))])).toEqual([])
})

test('the ending is the last reason that Apple sent within its time, otherwise it follows from renewal status', () => {
  const facts = [bought('1', '2026-01-01', '2026-02-01')]
  const ending = (...infos: ReturnType<typeof renewalInfo>[]) => timeline(facts, infos)[0]?.ending
  expect(ending()).toBe('other')
  expect(ending(renewalInfo('2026-01-10', { auto_renew_status: 0 }))).toBe('voluntary')
  expect(ending(renewalInfo('2026-01-10', { auto_renew_status: 0 }), renewalInfo('2026-01-11'))).toBe('other')
  expect(ending(renewalInfo('2026-02-01', { expiration_intent: 1 }))).toBe('voluntary')
  expect(ending(renewalInfo('2026-02-01', { expiration_intent: 2 }))).toBe('billing')
  expect(ending(renewalInfo('2026-02-01', { in_billing_retry: 1 }))).toBe('billing')
  expect(ending(renewalInfo('2026-02-01', { expiration_intent: 3, auto_renew_status: 0 }))).toBe('other')
})

test('family members and assigned seats do not pay', () => {
  expect(timeline([bought('1', '2026-01-01', '2026-02-01', { ownership: 'FAMILY_SHARED' })])).toEqual([])
  expect(timeline([bought('1', '2026-01-01', '2026-02-01', { ownership: 'ASSIGNED' })])).toEqual([])
  expect(timeline([bought('1', '2026-01-01', '2026-02-01', { kind: 'Consumable', group_id: null })])).toEqual(
    [],
  )
})

test('the period is the product’s, that of an upfront offer, or a month of a commitment', () => {
  const period = (more: Parameters<typeof bought>[3], to = '2026-02-01') =>
    timeline([bought('1', '2026-01-01', to, more)])[0]?.period
  expect(period({})).toBe('P1M')
  const three = { offer_type: 1, offer_period: 'P3M' }
  expect(period({ ...three, offer_discount: 'PAY_UP_FRONT' }, '2026-04-01')).toBe('P3M')
  expect(period({ ...three, offer_discount: 'PAY_AS_YOU_GO' })).toBe('P1M')
  expect(period({ product_id: 'yearly', billing_plan: 'MONTHLY' })).toBe('P1M')
  expect(period({ product_id: 'yearly', billing_plan: 'BILLED_UPFRONT' }, '2027-01-01')).toBe('P1Y')
})

test('an unknown product has the standard period nearest to its own, which no extension and no sandbox defines', () => {
  const unknown = { product_id: 'unheard of' }
  const period = (to: string, more = {}) =>
    timeline([bought('1', '2026-01-01', to, { ...unknown, ...more })])[0]?.period
  expect(period('2026-01-08')).toBe('P1W')
  expect(period('2026-02-01')).toBe('P1M')
  expect(period('2026-04-02')).toBe('P3M')
  expect(period('2027-01-01')).toBe('P1Y')
  expect(period('2026-03-15', { earliest_expires_at: day('2026-02-01') })).toBe('P1M')
  expect(period('2026-02-01', { environment: 'sandbox' })).toBeNull()
})

test('the segments of any history do not overlap', () => {
  const property = fc.property(histories, ({ transactions, renewals }) => {
    const segments = timelineOf(transactions, renewals, periodOf)
    for (const [index, segment] of segments.entries()) {
      expect(segment.from).toBeLessThan(segment.to)
      const next = segments[index + 1]
      if (next) expect(segment.to).toBeLessThanOrEqual(next.from)
    }
  })
  fc.assert(property, runs(500, 20_000))
})

test('an expiration reason does not apply to a subscription bought within a day after', () => {
  const facts = [
    bought('1', '2026-01-01', '2026-02-01'),
    bought('2', '2026-02-02', '2026-03-02', { reason: 'PURCHASE' }),
  ]
  const ended = [renewalInfo('2026-02-01', { expiration_intent: 1, auto_renew_status: 0 })]
  const endings = timelineOf(facts, ended, periodOf).map(({ ending }) => ending)
  expect(endings).toEqual(['voluntary', 'other'])
})
