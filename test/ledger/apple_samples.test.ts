import { expect, test } from 'vitest'
import { APPLE_ROOTS } from '../../src/apple/jws/roots.ts'
import { haveVectors, listVectors, textOf } from '../apple/vectors.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { nonEmpty } from '../non_empty.ts'

const BUNDLE = 'com.loki-project.loki-messenger'
const LIFECYCLE = [
  'notification.2025-10-01070838.did-renew.jws',
  'notification.2025-10-01073332.expired.voluntary.jws',
  'notification.2025-10-02070616.subscribed.resubscribe.jws',
  'notification.2025-10-02070735.did-change-renewal-status.auto_renew_disabled.jws',
  'notification.2025-10-02071041.expired.voluntary.jws',
]
const at = (text: string): number => Date.parse(`${text}Z`)

const openGenuine = () =>
  openTestApp({
    roots: APPLE_ROOTS,
    apps: [{ bundle_id: BUNDLE }],
    clock: handClock(at('2025-10-02T08:00:00')),
  })

/*
 * Read by hand from Apple's own signed payloads. One sandbox subscription (three-minute months) of an Australian
 * at 1.990 AUD: on October 1st a renewal, signed 34 seconds before its period began; later that morning its last
 * period, 07:30:12 to 07:33:12, ran out because the customer had canceled. On October 2nd they subscribed again at
 * 07:06:07, canceled at 07:07:35 while it still ran, and it expired at 07:09:07, reported at 07:10:41.
 */
test.skipIf(!haveVectors)(
  'a genuine lifecycle, sent to the endpoint, gives the feed derived by hand',
  async () => {
    const app = await openGenuine()
    for (const file of LIFECYCLE) {
      const answer = await app.post('/apple/notifications', { signedPayload: textOf(`apple-signed/${file}`) })
      expect(answer).toMatchObject({ status: 200, body: { applied: 1, pending: false } })
    }
    const summary = app.feed().map(({ type, occurred_at, environment, subject, data }) => {
      const { state, auto_renew } = data.subscription as { state: string; auto_renew: boolean }
      return {
        type,
        occurred_at,
        environment,
        subject,
        state,
        auto_renew,
        money: data.money,
        country: data.country,
      }
    })
    const common = {
      environment: 'sandbox',
      subject: '2000001024993299',
      money: { price_milli: 1990, currency: 'AUD' },
      country: 'AUS',
    }
    const renewing = { ...common, state: 'active', auto_renew: true }
    const ending = { ...common, auto_renew: false }
    expect(summary).toEqual([
      { type: 'subscription.renewed', occurred_at: at('2025-10-01T07:09:12'), ...renewing },
      { type: 'subscription.expired', occurred_at: at('2025-10-01T07:33:12'), ...ending, state: 'expired' },
      { type: 'subscription.resubscribed', occurred_at: at('2025-10-02T07:06:07'), ...renewing },
      {
        type: 'subscription.renewal_disabled',
        occurred_at: at('2025-10-02T07:07:35.473'),
        ...ending,
        state: 'active',
      },
      { type: 'subscription.expired', occurred_at: at('2025-10-02T07:09:07'), ...ending, state: 'expired' },
    ])
    const customers = new Set(app.feed().map((event) => event.customer_id))
    expect(customers.size).toBe(1)
    expect(app.feed(['transaction.recorded']).map((event) => event.cause)).toEqual([
      '2000001024998954',
      '2000001025012675',
      '2000001025686313',
    ])
  },
)

test.skipIf(!haveVectors)('every genuine payload is restored byte for byte', async () => {
  const app = await openGenuine()
  const { store, ledger } = app.windfall
  for (const name of nonEmpty(listVectors('apple-signed/').filter((file) => file.endsWith('.jws')))) {
    const jws = textOf(`apple-signed/${name}`)
    const packed = await store.commit(() => ledger.raw.pack(jws))
    expect(ledger.raw.unpack(packed)).toBe(jws)
    // Without certificates, the stored size is at most a third of what arrived.
    expect(packed.body.length).toBeLessThan(jws.length / 3)
  }
})

test.skipIf(!haveVectors)(
  'a genuine test notification of an app that is not connected is pending',
  async () => {
    const app = await openGenuine()
    const signedPayload = textOf('apple-signed/notification.2022-09-02124132.test.jws')
    expect(await app.post('/apple/notifications', { signedPayload })).toMatchObject({
      status: 200,
      body: { pending: true },
    })
    expect(app.windfall.arrivals.pending.list()).toMatchObject([
      { bundle_id: 'com.Abilities', notifications: 1 },
    ])
  },
)
