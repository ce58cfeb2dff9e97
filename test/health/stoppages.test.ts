/** What an error stops is reported at once, and to programs that watch the server once it lasts. */
import { expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
import { openForwardingApp, openHttpReceiver } from '../forwarding/receiving.ts'
import { expectErrors } from '../guards/error_lines.ts'
import type { TestApp } from '../helpers.ts'

const MINUTE = 60_000

const rename = ({ windfall: { store } }: TestApp, from: string, to: string): Promise<unknown> =>
  store.commit(() => store.prepare(`alter table ${from} rename to ${to}`).run())

async function readiness(app: TestApp): Promise<unknown> {
  const response = await app.request('/readyz')
  const { status, checks } = (await response.json()) as { status: string; checks: object }
  return { code: response.status, status, checks }
}

const stopped = async ({ windfall }: TestApp): Promise<(string | undefined)[]> =>
  (await windfall.health.findings()).flatMap(({ details }) =>
    /^(stopped:|unchecked)/.test(details?.id ?? '') ? [details?.id] : [],
  )

test('alerts that an error stops are a finding at once; after five minutes there is no heartbeat', async () => {
  expectErrors('alerts pause for 30 seconds after an error')
  const beats = await openHttpReceiver()
  const app = await openAlertingApp({ env: { WINDFALL_ALERTS_HEARTBEAT_URL: beats.url } })
  await app.rule('sale')
  await app.windfall.alerts.beat()
  const before = beats.requests.length
  await rename(app, 'alert_sends', 'elsewhere')
  await app.settle(1_000)
  expect(await stopped(app)).toEqual(['stopped:alerts:sending'])
  expect(await readiness(app)).toMatchObject({ code: 200, status: 'ready' })
  for (let minute = 0; minute < 5; minute += 1) await app.settle(MINUTE)
  expect(await readiness(app)).toMatchObject({
    code: 200,
    status: 'degraded',
    checks: { alerts_running: false, forwarding_running: true },
  })
  await app.windfall.alerts.beat()
  expect(beats.requests).toHaveLength(before)

  await rename(app, 'elsewhere', 'alert_sends')
  await purchase({ app })
  await app.settle(MINUTE)
  expect(app.got()).toHaveLength(1)
  expect(await stopped(app)).toEqual([])
  expect(await readiness(app)).toMatchObject({ code: 200, status: 'ready' })
  await app.windfall.alerts.beat()
  expect(beats.requests).toHaveLength(before + 1)
})

test('results of alerts that cannot be stored and alerts that cannot be read are two findings of different titles', async () => {
  expectErrors('alerts pause for 30 seconds after an error', 'an alert cannot be sent')
  const app = await openAlertingApp()
  await app.rule('sale')
  app.receiver.behave((_, response) => {
    void rename(app, 'alert_sends', 'elsewhere').then(() => response.end('{}'))
    return undefined
  })
  await purchase({ app })
  await app.settle(2_000)
  await app.settle(MINUTE)
  const titles = (await app.windfall.health.findings()).flatMap(({ details }) =>
    details?.id.startsWith('stopped:alerts:') ? [details.title] : [],
  )
  expect(titles.toSorted()).toEqual(['Alerts are not sent', 'The results of alerts are not stored'])
})

test('webhooks that an error stops are a finding at once, and degrade the server after five minutes', async () => {
  expectErrors('forwarding could not look for due deliveries', 'forwarding to an endpoint pauses')
  const logged: string[] = []
  const app = await openForwardingApp({ logged })
  await rename(app, 'deliveries', 'elsewhere')
  await app.windfall.forwarding.tick()
  expect(await stopped(app)).toEqual(expect.arrayContaining(['stopped:forwarding:due']))
  app.clock.turn(5 * MINUTE)
  await app.windfall.forwarding.tick()
  expect(await readiness(app)).toMatchObject({ status: 'degraded', checks: { forwarding_running: false } })
  const lines = logged.filter((line) => line.includes('could not look for due deliveries'))
  expect(lines, 'the same error is logged once').toHaveLength(1)

  await rename(app, 'elsewhere', 'deliveries')
  await app.windfall.forwarding.tick()
  expect(await stopped(app)).toEqual([])
  expect(await readiness(app)).toMatchObject({ status: 'ready' })
})

test('webhooks that an error keeps from being chosen are one finding and one line of the log, until they are', async () => {
  expectErrors('forwarding could not choose what to send')
  const logged: string[] = []
  const app = await openForwardingApp({ logged })
  const { store } = app.windfall
  // Looking for due deliveries needs only the id.
  store.prepare('create temp view endpoints as select id from main.endpoints').run()
  await app.tickFor(3)
  const [finding] = (await app.windfall.health.findings()).filter(({ details }) =>
    details?.id.startsWith('stopped:'),
  )
  expect(finding).toMatchObject({ details: { id: 'stopped:forwarding:choosing' } })
  expect(finding?.text).toMatch(/^it failed 3 times since/)
  expect(logged.filter((line) => line.includes('"level":"error"'))).toHaveLength(1)
  app.clock.turn(5 * MINUTE)
  await app.tickFor(1)
  expect(await readiness(app)).toMatchObject({ status: 'degraded', checks: { forwarding_running: false } })

  store.prepare('drop view temp.endpoints').run()
  await app.tickFor(1)
  expect(await stopped(app)).toEqual([])
  expect(await readiness(app)).toMatchObject({ status: 'ready' })
})

test('a rule that cannot be evaluated is named, and goes when it can', async () => {
  expectErrors('an alert rule could not be evaluated')
  const app = await openAlertingApp()
  const rule = await app.rule('no_sale')
  await rename(app, 'alert_memory', 'elsewhere')
  await app.windfall.alerts.evaluate()
  const [finding] = (await app.windfall.health.findings()).filter(({ details }) =>
    details?.id.startsWith('stopped:'),
  )
  expect(finding).toMatchObject({
    state: 'fault',
    details: {
      id: `stopped:alerts:rule:${rule.name}`,
      title: `An alert rule is not evaluated (${rule.name})`,
    },
  })
  expect(finding?.text).toMatch(/^it failed once since just now\. The last error: no such table/)
  await rename(app, 'elsewhere', 'alert_memory')
  await app.windfall.alerts.evaluate()
  expect(await stopped(app)).toEqual([])
})

test('figures that are not counted while writes fail are a finding until they are', async () => {
  expectErrors('the metrics cannot be brought up to date')
  const app = await openAlertingApp()
  const { metrics } = app.windfall
  const release = metrics.hold()
  await purchase({ app })
  await rename(app, 'metric_due', 'elsewhere')
  release()
  await expect.poll(() => stopped(app)).toEqual(['unchecked', 'stopped:metrics:counting'])
  await rename(app, 'elsewhere', 'metric_due')
  await metrics.whenCurrent()
  expect(await stopped(app)).toEqual([])
})
