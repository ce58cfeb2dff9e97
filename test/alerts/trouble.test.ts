import { expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { nonEmpty } from '../non_empty.ts'
import { type AlertingApp, openAlertingApp, purchase } from './alerting.ts'

const MINUTE = 60_000

/** An app with a channel that can break, which is a warning, and a rule that reports warnings. */
async function openWatched() {
  const app = await openAlertingApp()
  const other = await app.channel('other', { state: 'disabled' })
  const { store, alerts } = app.windfall
  const watched = await app.rule('trouble')
  const setBroken = (isBroken: boolean) =>
    store.commit(() => alerts.channels.setState(other, isBroken ? 'dead' : 'disabled', 'no such chat.'))
  return { app, watched, setBroken, look: () => look(app) }
}

async function look(app: AlertingApp): Promise<void> {
  await app.alerts.look()
  await app.settle(MINUTE)
}

const aboutOther = (app: AlertingApp): string[] =>
  app
    .got()
    .map(({ title }) => title)
    .filter((title) => title.includes('do not reach other'))

test('a finding is reported after two looks, and its end after three', async () => {
  const { app, setBroken, look } = await openWatched()
  await setBroken(true)
  await look()
  expect(aboutOther(app)).toEqual([])
  await look()
  expect(aboutOther(app)).toEqual(['🟠 Alerts do not reach other'])
  expect(app.got().find(({ title }) => title.includes('do not reach other'))).toMatchObject({
    urgency: 'warning',
    body: expect.stringContaining('no such chat.'),
  })
  await look()
  await setBroken(false)
  await look()
  await look()
  expect(aboutOther(app)).toHaveLength(1)
  await look()
  expect(aboutOther(app)).toEqual(['🟠 Alerts do not reach other', '🟢 Over: Alerts do not reach other'])
  const end = app.got().find(({ title }) => title === '🟢 Over: Alerts do not reach other')
  expect(end?.body).toBe('It was seen from 2026-06-01 12:00Z on, for 5 minutes.')
})

test('one look that misses a finding, or shows it once, reports nothing', async () => {
  const { app, setBroken, look } = await openWatched()
  await setBroken(true)
  await look()
  await setBroken(false)
  for (let n = 0; n < 4; n += 1) await look()
  expect(aboutOther(app)).toEqual([])
  await setBroken(true)
  for (let n = 0; n < 2; n += 1) await look()
  await setBroken(false)
  await look()
  await setBroken(true)
  for (let n = 0; n < 4; n += 1) await look()
  expect(aboutOther(app)).toHaveLength(1)
})

test('a finding that flaps is one message an hour', async () => {
  const { app, setBroken, look } = await openWatched()
  for (let flap = 0; flap < 5; flap += 1) {
    await setBroken(true)
    for (let n = 0; n < 2; n += 1) await look()
    await setBroken(false)
    for (let n = 0; n < 3; n += 1) await look()
  }
  expect(aboutOther(app)).toEqual([
    '🟠 Alerts do not reach other',
    '🟢 Over: Alerts do not reach other',
    '🟠 Alerts do not reach other',
    '🟢 Over: Alerts do not reach other',
    '🟠 Comes and goes: Alerts do not reach other',
  ])
})

test('in quiet hours a warning waits for the summary, which tells its end alone if it is over', async () => {
  const { app, setBroken, look } = await openWatched()
  const { store, alerts } = app.windfall
  for (let n = 0; n < 3; n += 1) await look()
  const { length: count } = app.got()
  await store.commit(() =>
    alerts.settings.change(app.organization.id, { quiet: { from: '11:00', until: '14:00' } }),
  )
  await setBroken(true)
  for (let n = 0; n < 2; n += 1) await look()
  const held = alerts.history.list({ organization_id: null, before: null, limit: 10 })
  expect(held.map(({ title }) => title)).toContain('🟠 Alerts do not reach other')
  await setBroken(false)
  for (let n = 0; n < 4; n += 1) await look()
  expect(app.got()).toHaveLength(count)
  await app.settle(2 * 60 * MINUTE)
  expect(app.got().slice(count)).toMatchObject([
    {
      title: '🟢 Over: Alerts do not reach other',
      body: 'During your quiet hours\nIt was seen from 2026-06-01 12:03Z on, for 4 minutes.',
      url: expect.stringMatching(/\/$/),
      urgency: 'normal',
    },
  ])
})

test.each([
  [true, '🟠 A webhook is failing (shop)', 'warning'],
  [false, '🟠 A webhook is failing (shop) · seems to be over', 'normal'],
])('the summary of one warning has its words; trouble at its end: %s', async (isLasting, title, urgency) => {
  const app = await openAlertingApp()
  await app.rule('trouble')
  const { store, alerts } = app.windfall
  await app.post('/api/v1/endpoints', { name: 'shop', url: 'http://127.0.0.1:9/hooks' }, await app.signIn())
  for (let n = 0; n < 3; n += 1) await look(app)
  const { length: count } = app.got()
  const setState = (state: string) =>
    store.commit(() =>
      store
        .prepare<[string, number]>("update endpoints set state = ?, reason = 'no_success', state_since = ?")
        .run(state, app.clock()),
    )
  await store.commit(() =>
    alerts.settings.change(app.organization.id, { muted_until: app.clock() + 60 * MINUTE }),
  )
  await setState('failing')
  for (let n = 0; n < 3; n += 1) await look(app)
  if (!isLasting) {
    await setState('active')
    await look(app)
  }
  await app.settle(60 * MINUTE)
  const after = app.got().slice(count)
  expect(after).toMatchObject([
    { title, urgency, body: expect.stringMatching(/^While alerts were muted\nshop is failing since/) },
  ])
  expect(new URL(after[0]?.url ?? '', 'http://localhost').pathname).toBe('/')
})

test('what is over before it could be sent is dropped, with its end', async () => {
  const { app, setBroken, look } = await openWatched()
  for (let n = 0; n < 2; n += 1) await look()
  app.receiver.behave(() => 503)
  await setBroken(true)
  for (let n = 0; n < 3; n += 1) await look()
  await setBroken(false)
  for (let n = 0; n < 4; n += 1) await look()
  app.receiver.behave(() => 200)
  const before = aboutOther(app)
  for (let n = 0; n < 15; n += 1) await look()
  expect(nonEmpty(before)).toEqual(aboutOther(app))
  const words = app.windfall.store
    .prepare<[], { words: string }>("select words from alert_sends where state = 'dropped'")
    .all()
    .map((row) => row.words)
  expect(words).toEqual(
    expect.arrayContaining(['It was over before it could be sent.', 'Its beginning was not sent.']),
  )
})

test('a channel that is not reached for an hour is reported to the others, also after its messages are given up', async () => {
  const app = await openAlertingApp()
  await app.channel('other')
  await app.rule('trouble')
  await app.rule('sale')
  app.receiver.behave(({ path }) => (path.endsWith('other') ? 503 : 200))
  await purchase({ app })
  await app.settle(2_000)
  const lookFor = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) await look(app)
  }
  await lookFor(60)
  expect(aboutOther(app)).toEqual([])
  await lookFor(40)
  expect(aboutOther(app)).toEqual(['🟠 Alerts do not reach other'])
  expect(app.alerts.findings()).toMatchObject([{ text: expect.stringContaining('503') }])
  for (let hour = 0; hour < 30; hour += 1) await app.settle(60 * MINUTE)
  await lookFor(5)
  expect(aboutOther(app)).toHaveLength(1)
  app.receiver.behave(() => 200)
  await purchase({ app })
  await lookFor(5)
  expect(aboutOther(app).slice(1)).toEqual(['🟢 Over: Alerts do not reach other'])
  // It does not hear of itself.
  expect(app.got('other').filter(({ title }) => title.includes('do not reach other'))).toEqual([])
})

test('the end waits while the beginning is being sent', async () => {
  const { app, setBroken, look } = await openWatched()
  const held: (() => void)[] = []
  const isBeginning = (body: string): boolean => /"title":"🟠 [^"]*do not reach other/u.test(body)
  app.receiver.behave(({ body }, response) => {
    if (!isBeginning(body)) return 200
    held.push(() => response.writeHead(200).end())
    return undefined
  })
  await setBroken(true)
  await look()
  await app.alerts.look()
  app.clock.turn(MINUTE)
  app.alerts.wake()
  await expect.poll(() => held.length).toBe(1)
  await setBroken(false)
  for (let n = 0; n < 3; n += 1) {
    await app.alerts.look()
    app.clock.turn(MINUTE)
    app.alerts.wake()
  }
  const ends = app.windfall.store.prepare<[string], { state: string }>(
    `select state from alert_sends where channel_id <> ?
       and message_id in (select id from alert_messages where key like 'ended/%')`,
  )
  const other = app.alerts.channels.list().find(({ name }) => name === 'other')
  await expect.poll(() => ends.all(other?.id ?? '')).toEqual([{ state: 'waiting' }])
  for (const answer of held) answer()
  await app.alerts.settled()
  await app.settle(MINUTE)
  expect(aboutOther(app)).toEqual(['🟠 Alerts do not reach other', '🟢 Over: Alerts do not reach other'])
})

test('a warning that becomes a fault is reported as one, also in quiet hours, with one end', async () => {
  const app = await openAlertingApp()
  await app.rule('trouble')
  const { store, alerts } = app.windfall
  const owner = await app.signIn()
  await app.post('/api/v1/endpoints', { name: 'backend', url: 'http://127.0.0.1:9/hooks' }, owner)
  const setState = (state: string) =>
    store.commit(() =>
      store
        .prepare<[string, number]>("update endpoints set state = ?, reason = 'five_days', state_since = ?")
        .run(state, app.clock()),
    )
  const about = () =>
    app
      .got()
      .map(({ title }) => title)
      .filter((title) => title.includes('webhook'))
  await setState('failing')
  for (let n = 0; n < 3; n += 1) await look(app)
  expect(about()).toEqual(['🟠 A webhook is failing'])
  await store.commit(() =>
    alerts.settings.change(app.organization.id, { quiet: { from: '11:00', until: '14:00' } }),
  )
  await setState('disabled')
  for (let n = 0; n < 4; n += 1) await look(app)
  expect(about()).toEqual(['🟠 A webhook is failing', '🔴 A webhook is disabled'])
  await setState('active')
  for (let n = 0; n < 4; n += 1) await look(app)
  expect(about().slice(2)).toEqual(['🟢 Over: A webhook is disabled'])
  const end = app.got().find(({ title }) => title === '🟢 Over: A webhook is disabled')
  expect(end?.body).toBe('backend: it was seen from 2026-06-01 12:04Z on, for 5 minutes.')
})

test('trouble that is sent late tells its time', async () => {
  const { app, setBroken, look } = await openWatched()
  app.receiver.behave(() => 503)
  await setBroken(true)
  for (let n = 0; n < 20; n += 1) await look()
  app.receiver.behave(() => 200)
  for (let n = 0; n < 10; n += 1) await look()
  const { body = '' } = app.got().findLast(({ title }) => title.includes('do not reach other')) ?? {}
  expect(body).toMatch(/\nSince 1 Jun, 12:0\d$/)
})

test('the badge counts nothing while trouble is not watched', async () => {
  const { app, watched, setBroken, look } = await openWatched()
  const badge = () => JSON.parse(app.receiver.requests.at(-1)?.body ?? '{}').badge
  const { alerts, store } = app.windfall
  const [phone] = alerts.channels.list()
  if (!phone) throw new Error('there is no channel')
  await setBroken(true)
  for (let n = 0; n < 2; n += 1) await look()
  await alerts.test(phone)
  expect(badge()).toBeGreaterThan(0)
  await store.commit(() => alerts.ruleAdministration.change(watched.id, { is_on: false }))
  await alerts.test(phone)
  expect(badge()).toBe(0)
})

test('an organization that was removed from config.toml hears nothing more', async () => {
  const { app, setBroken, look } = await openWatched()
  await app.windfall.store.commit(() => app.windfall.organizations.drop(app.organization.id))
  await setBroken(true)
  for (let n = 0; n < 3; n += 1) await look()
  expect(app.got()).toEqual([])
})

test('what was there before the rule is silent, and what begins after it is not', async () => {
  const app = await openAlertingApp()
  const refuse = async (attributes: object, authorization = '') => {
    const headers = authorization === '' ? {} : { authorization }
    await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE, attributes }, headers)
    await app.windfall.refusedCalls.flush()
  }
  await refuse({}, 'Bearer pk_live_0000000000000000000000000000')
  app.clock.turn(10 * MINUTE)
  await app.rule('trouble')
  for (let n = 0; n < 4; n += 1) await look(app)
  expect(app.got()).toEqual([])
  app.clock.turn(2 * 24 * 60 * MINUTE)
  for (let n = 0; n < 4; n += 1) await look(app)
  const { length: count } = app.got()
  await refuse({}, 'Bearer pk_live_0000000000000000000000000000')
  await refuse({ plan: 'x'.repeat(1_025) })
  for (let n = 0; n < 4; n += 1) await look(app)
  expect(app.got().slice(count)).toMatchObject([
    {
      title: expect.stringMatching(/^🟠 1 call with (an unknown key|invalid fields) was refused today/),
      body: expect.not.stringContaining('refused'),
      urgency: 'warning',
    },
  ])
})
