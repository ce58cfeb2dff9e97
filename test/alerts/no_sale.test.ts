/** The rule about silence after outages, with recovered sales, and beside apps that are silent for good. */
import { expect, test } from 'vitest'
import { dataBody, outerPayload } from '../apple/samples.ts'
import { type AlertingApp, openAlertingApp, purchase } from './alerting.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

async function evaluate(app: AlertingApp, ms = 0): Promise<void> {
  app.clock.turn(ms)
  await app.windfall.metrics.whenCurrent()
  await app.alerts.evaluate()
  await app.settle()
}

/** Opens a Windfall where three sales in six hours are usual now, and where the last one was a week ago. */
async function openUsual(): Promise<AlertingApp> {
  const app = await openAlertingApp()
  await app.rule('no_sale', { hours: 6 })
  for (let week = 0; week < 4; week += 1) {
    for (let n = 0; n < 3; n += 1) {
      await purchase({ app })
      await evaluate(app, HOUR)
    }
    app.clock.turn(7 * DAY - 3 * HOUR)
  }
  return app
}

/** A notification that is no sale, so that the silence of the app is no finding. */
const cancel = (app: AlertingApp) =>
  purchase({
    app,
    type: 'DID_CHANGE_RENEWAL_STATUS',
    subtype: 'AUTO_RENEW_DISABLED',
    transaction: { price: 0 },
  })

const silences = (app: AlertingApp): string[] =>
  app
    .got()
    .map(({ title }) => title)
    .filter((title) => title.includes('No sale'))

test('the time in which Windfall did not run is no silence', async () => {
  const app = await openUsual()
  await cancel(app)
  await evaluate(app)
  expect(silences(app)).toEqual([])
  await app.windfall.close()
  app.clock.turn(3 * HOUR)
  const again = await openAlertingApp({ folder: app.folder, clock: app.clock })
  await cancel(again)
  await evaluate(again)
  await evaluate(again, 5 * HOUR)
  expect(silences(again)).toEqual([])
})

test('a short restart does not interrupt a silence', async () => {
  const app = await openUsual()
  await cancel(app)
  await evaluate(app, 3 * HOUR - 60_000)
  await app.windfall.close()
  app.clock.turn(60_000)
  const again = await openAlertingApp({ folder: app.folder, clock: app.clock })
  await cancel(again)
  await evaluate(again)
  expect(silences(again).length + silences(app).length).toBe(1)
})

test('a sale that arrived late ends a silence', async () => {
  const app = await openUsual()
  await cancel(app)
  app.clock.turn(3 * HOUR)
  await purchase({ app, signed_at: app.clock() - 2 * HOUR })
  await evaluate(app)
  expect(silences(app)).toEqual([])
})

test('an app that is silent for good does not keep the rule from the others', async () => {
  const apps = [
    { bundle_id: 'com.example.lantern', apple_id: 1_234_567_890 },
    { bundle_id: 'com.example.old', apple_id: 900_000_002 },
  ]
  const app = await openAlertingApp({ apps })
  await app.rule('no_sale', { hours: 6 })
  for (let n = 0; n < 12; n += 1)
    await app.notify(
      outerPayload(
        dataBody({ bundleId: 'com.example.old', appAppleId: 900_000_002, environment: 'Production' }),
        {
          notificationType: 'TEST',
          notificationUUID: `00000000-0000-4000-8000-00000000000${n.toString(16)}`,
          signedDate: app.clock(),
        },
      ),
    )
  for (let week = 0; week < 4; week += 1) {
    for (let n = 0; n < 3; n += 1) {
      await purchase({ app })
      await evaluate(app, HOUR)
    }
    app.clock.turn(7 * DAY - 3 * HOUR)
  }
  await cancel(app)
  await evaluate(app, 3 * HOUR)
  expect(silences(app)).toHaveLength(1)
})
