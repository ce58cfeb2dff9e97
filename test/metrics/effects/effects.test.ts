import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dataBody, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { runs } from '../../random.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

type Effect = {
  kind: string | null
  at: number
  currency: string
  base_milli: number | null
  before_milli: number | null
  after_milli: number | null
}
type Event = { seq: number; type: string; subject: string | null; mrr_effect: Effect | null }
type Ledger = Awaited<ReturnType<typeof openTestLedger>>

/** All events, the quiet ones too, oldest first. */
async function eventsIn(get: Ledger['get']): Promise<Event[]> {
  const types = 'subscription.*,trial.*,transaction.recorded,purchase.*,customer.*'
  const answer = await get(`events?after=0&limit=500&type=${types}`)
  return ((await answer.json()) as { events: Event[] }).events
}

/** The effects that are not zero, in the order of the feed. */
const changesIn = async (get: Ledger['get']) =>
  (await eventsIn(get))
    .filter(({ mrr_effect }) => mrr_effect !== null && mrr_effect.kind !== null)
    .map(({ type, mrr_effect: one }) =>
      [type, one?.kind, one?.base_milli, one?.before_milli, one?.after_milli].join(' '),
    )

const refunded = (on: string) => ({ revocationDate: at(on), revocationReason: 1, signedDate: at(on) })

test('each event has what it changes in MRR, and only one event has each change', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-01', '2026-04-01')
  await notifyTransaction('1', 1, '2026-04-01', '2026-05-01', { price: 12_990 }, {}, 'DID_RENEW')
  await notifyTransaction(
    '1',
    1,
    '2026-04-01',
    '2026-05-01',
    { price: 12_990, ...refunded('2026-04-10') },
    {},
    'REFUND',
  )
  await notifyTransaction(
    '1',
    2,
    '2026-05-10',
    '2026-06-10',
    { transactionReason: 'PURCHASE' },
    {},
    'SUBSCRIBED',
  )
  expect(await changesIn(get)).toEqual([
    'subscription.started new 9990 0 9990',
    'subscription.renewed expansion 3000 9990 12990',
    'subscription.refunded churn_refund -12990 12990 0',
    'subscription.started resubscribe 9990 0 9990',
  ])
  const [first] = await eventsIn(get)
  expect(first?.mrr_effect).toMatchObject({ at: at('2026-03-01'), currency: 'USD' })
})

test('a reversed refund takes its effect away, because the metrics count it as if it had not been', async () => {
  const { notifyTransaction, get, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-05', '2026-06-05')
  await notifyTransaction('1', 0, '2026-05-05', '2026-06-05', refunded('2026-05-10'), {}, 'REFUND')
  expect(await changesIn(get)).toContain('subscription.refunded churn_refund -9990 9990 0')
  const later = { signedDate: at('2026-05-20') }
  await notifyTransaction('1', 0, '2026-05-05', '2026-06-05', later, {}, 'REFUND_REVERSED')
  expect(await changesIn(get)).toEqual(['subscription.started new 9990 0 9990'])
  expect(figuresIn((await getMetric('mrr?from=2026-05-31&to=2026-05-31')).series, 'milli')).toEqual({
    '2026-05-31': 9_990,
  })
})

test('an unknown price is an unknown effect, and a renewal in the future has none yet', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-01', '2026-07-01', { price: undefined, currency: undefined })
  await notifyTransaction('2', 0, '2026-05-02T12:00:00Z', '2026-06-02T12:00:00Z')
  const early = { price: 12_990, signedDate: at('2026-06-01'), purchaseDate: at('2026-06-02') }
  await notifyTransaction('2', 1, '2026-06-02', '2026-07-02', early, {}, 'DID_RENEW')
  expect(await changesIn(get)).toEqual([
    'subscription.started new  0 ',
    'subscription.started new 9990 0 9990',
    'subscription.renewed expansion  9990 12990',
  ])
})

test('an event that cannot change MRR has no effect', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-05', '2026-06-05')
  await notifyTransaction(
    '1',
    0,
    '2026-05-05',
    '2026-06-05',
    { signedDate: at('2026-05-06') },
    {},
    'RENEWAL_EXTENDED',
  )
  const oneTime = { type: 'Consumable', subscriptionGroupIdentifier: undefined, productId: 'coins' }
  await notifyTransaction('2', 0, '2026-03-01', null, oneTime, {}, 'ONE_TIME_CHARGE')
  const effects = (await eventsIn(get)).map(({ type, mrr_effect }) => `${type} ${mrr_effect?.base_milli}`)
  expect(effects).toEqual([
    'subscription.started 9990',
    'transaction.recorded 0',
    'subscription.extended undefined',
    'purchase.made undefined',
    'transaction.recorded undefined',
  ])
})

test('a payment that fails has the loss at once, and the later expiry does not repeat it', async () => {
  const { app, notifyTransaction, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-01', '2026-04-01')
  const failed = { isInBillingRetryPeriod: true, signedDate: at('2026-04-01') + 60_000, autoRenewStatus: 1 }
  const post = (notificationType: string, renewal: object, signedDate: number) => {
    const signedTransactionInfo = app.authority.sign(
      transactionPayload({
        transactionId: '1000',
        originalTransactionId: '1000',
        productId: 'monthly',
        purchaseDate: at('2026-03-01'),
        originalPurchaseDate: at('2026-03-01'),
        signedDate: at('2026-03-01'),
        price: 9990,
        expiresDate: at('2026-04-01'),
        transactionReason: 'PURCHASE',
        appTransactionId: '704000001',
      }),
    )
    const signedRenewalInfo = app.authority.sign(
      renewalPayload({ originalTransactionId: '1000', ...renewal }),
    )
    return app.notify(
      outerPayload(dataBody({ signedTransactionInfo, signedRenewalInfo }), {
        notificationType,
        notificationUUID: randomUUID(),
        signedDate,
      }),
    )
  }
  await post('DID_FAIL_TO_RENEW', failed, failed.signedDate)
  const expected = [
    'subscription.started new 9990 0 9990',
    'subscription.billing_failed churn_billing -9990 9990 0',
  ]
  expect(await changesIn(get)).toEqual(expected)
  const expired = { expirationIntent: 2, isInBillingRetryPeriod: false, signedDate: at('2026-05-30') }
  await post('EXPIRED', { ...expired, autoRenewStatus: 0 }, expired.signedDate)
  expect((await eventsIn(get)).map(({ type }) => type)).toContain('subscription.expired')
  expect(await changesIn(get)).toEqual(expected)
})

const DAY = 86_400_000
const NOW = at('2026-06-01')

const MONTHLY = { productId: 'monthly', days: 30 }

/** A purchase or renewal of a subscription. `ends`: how, or null if it renews. `gap`: days until it ends, or begins again. */
type Term = { price: number; plan: typeof MONTHLY; ends: 'REFUND' | 'EXPIRED' | null; gap: number }
const term: fc.Arbitrary<Term> = fc.record({
  price: fc.constantFrom(0, 4_990, 9_990, 9_990, 9_990, 129_990),
  plan: fc.constantFrom(MONTHLY, MONTHLY, MONTHLY, { productId: 'yearly', days: 365 }),
  ends: fc.constantFrom(null, null, null, 'REFUND' as const, 'EXPIRED' as const),
  gap: fc.integer({ min: 1, max: 20 }),
})
const story = fc.record({ start: fc.nat(30), terms: fc.array(term, { minLength: 1, maxLength: 9 }) })

type Fact = { number: number; from: number; to: number; signed_at: number; type: string; fields: object }

/** The notifications of a subscription, as Apple sends them. The last term ends with one, too. */
function factsOf({ start, terms }: { start: number; terms: Term[] }): Fact[] {
  let from = at('2025-06-01') + start * DAY
  let isFirst = true
  return terms.flatMap(({ price, plan, ends, gap }, number): Fact[] => {
    const { days, productId } = plan
    const to = from + days * DAY
    const fields = { price, productId }
    const bought = { ...fields, transactionReason: isFirst ? 'PURCHASE' : 'RENEWAL' }
    const term = {
      number,
      from,
      to,
      signed_at: from,
      type: isFirst ? 'SUBSCRIBED' : 'DID_RENEW',
      fields: bought,
    }
    const type = ends ?? (number === terms.length - 1 ? 'EXPIRED' : null)
    isFirst = type !== null
    const end = type === 'REFUND' ? from + gap * DAY : to
    from = end + (type === null ? 0 : gap * DAY)
    if (type === null) return [term]
    const revoked = type === 'REFUND' && { revocationDate: end, revocationReason: 0 }
    return [term, { ...term, signed_at: end, type, fields: { ...bought, ...revoked } }]
  })
}

/** Posts what has happened until now. */
async function report({ notifyTransaction }: Ledger, id: string, facts: readonly Fact[]): Promise<void> {
  const iso = (time: number) => new Date(time).toISOString()
  for (const { number, from, to, signed_at, type, fields } of facts) {
    if (signed_at > NOW) continue
    const dated = { ...fields, purchaseDate: from, expiresDate: to, signedDate: signed_at }
    await notifyTransaction(id, number, iso(from), iso(to), dated, {}, type)
  }
}

test('the effects of any histories sum to the change of the metric over any period', {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(fc.array(story, { minLength: 1, maxLength: 4 }), async (stories) => {
    const ledger = await openTestLedger()
    for (const [index, one] of stories.entries()) await report(ledger, String(index + 1), factsOf(one))
    const effects = (await eventsIn(ledger.get)).flatMap(({ mrr_effect }) => mrr_effect ?? [])
    const { series } = await ledger.getMetric('mrr?from=2025-05-31&to=2026-06-01')
    const levels = figuresIn(series, 'milli')
    const sums: Record<string, number> = {}
    for (const on of Object.keys(levels)) {
      const end = Date.parse(`${on}T00:00:00Z`) + DAY
      sums[on] = effects.reduce((sum, one) => (one.at < end ? sum + (one.base_milli ?? 0) : sum), 0)
    }
    expect(sums).toEqual(levels)
  })
  await fc.assert(property, runs(8, 200))
})
