/** Alerts about webhooks whose events were given up: no message says that what was lost is over. */
import { expect, test } from 'vitest'
import { type AlertingApp, openAlertingApp } from '../../alerts/alerting.ts'
import { openHttpReceiver } from '../receiving.ts'

const MINUTE = 60_000

/** A trouble rule, and an endpoint that refuses events. */
async function openRefused() {
  const backend = await openHttpReceiver(() => 400)
  const app = await openAlertingApp()
  const { forwarding, store, feed } = app.windfall
  forwarding.start()
  await app.rule('trouble')
  const { id } = await store.commit(
    () =>
      forwarding.endpoints.create({
        organization_id: app.organization.id,
        name: 'backend',
        url: backend.url,
        kind: 'events',
        source: 'dashboard',
        apps: null,
        environment: null,
        types: null,
        is_ordered: false,
        max_per_second: null,
        headers: {},
      }).endpoint,
  )
  const append = (cause: string) =>
    store.commit(() => {
      const fields = { app_id: null, environment: null, customer_id: null, subject: null, signed_at: null }
      const occurred_at = app.clock()
      const organization_id = app.organization.id
      const event = { type: 'gap.found', origin: 'live', data: () => ({}), cause, occurred_at } as const
      feed.append({ ...fields, ...event, organization_id })
    })
  /** Lets hours pass, with a look each ten minutes. */
  async function pass(hours: number): Promise<void> {
    for (let step = 0; step < hours * 6; step += 1) {
      await forwarding.tick()
      await forwarding.settled()
      await app.alerts.look()
      await app.settle(10 * MINUTE)
    }
  }
  return { app, id, backend, append, pass }
}

const aboutWebhooks = (app: AlertingApp) =>
  app.got().filter(({ title }) => /webhook|given up|Given-up/i.test(title))

test('the end of waiting by a give-up says what was lost, and the end of the loss says how', async () => {
  const { app, id, backend, append, pass } = await openRefused()
  await append('first')
  await append('second')
  await pass(95)
  const titles = () => aboutWebhooks(app).map(({ title }) => title)
  expect(titles().toSorted()).toEqual(
    [
      '🟠 Events wait for a webhook',
      '🟠 Events were given up',
      '🟠 Ended with a loss: Events wait for a webhook',
    ].toSorted(),
  )
  const ended = aboutWebhooks(app).find(({ title }) => title.includes('Ended'))
  expect(ended).toMatchObject({
    urgency: 'trouble',
    body: expect.stringMatching(
      /^2 deliveries to backend were given up since .*windfall webhooks replay backend --failed/,
    ),
  })
  backend.behave(() => 200)
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.dismissLosses(id, app.clock()))
  await pass(1)
  expect(titles().at(-1)).toBe('🟢 Given-up events were sent again or dismissed')
  expect(titles().join()).not.toContain('Over')
})

test('waiting that ends well is over, also beside an older loss', async () => {
  const { app, backend, append, pass } = await openRefused()
  await append('first')
  await pass(95)
  const before = aboutWebhooks(app).length
  await append('second')
  await pass(2)
  backend.behave(() => 200)
  await pass(6)
  expect(
    aboutWebhooks(app)
      .slice(before)
      .map(({ title }) => title),
  ).toEqual(['🟠 Events wait for a webhook', '🟢 Over: Events wait for a webhook'])
})
