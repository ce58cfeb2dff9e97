/** Errors with one message, and clocks with fractions: the other messages, channels and organizations go on. */
import { beforeEach, expect, test } from 'vitest'
import { openBuckets } from '../../src/alerts/sending/buckets.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { type AlertingApp, openAlertingApp, openLimited, purchase } from './alerting.ts'

beforeEach(() =>
  expectErrors(
    'an alert cannot be sent',
    'a summary quotes an alert without its text',
    'an alert about an event could not be stored',
    'alerts could not read the feed',
  ),
)

const errorsIn = (logged: readonly string[]): string[] =>
  logged.filter((line) => line.includes('"level":"error"'))

/** The state and the words of each send, in order. */
const sendsOf = ({ windfall }: AlertingApp) =>
  windfall.store
    .prepare<[], { state: string; words: string | null }>(
      'select state, words from alert_sends join alert_messages on id = message_id order by alert_messages.rowid',
    )
    .all()

test('a limit that is asked at fractions of a millisecond answers in whole ones, and not too early', () => {
  let now = 1_000.4
  const buckets = openBuckets(() => now)
  const limits = [{ count: 1, per_ms: 1_000 }]
  expect(buckets.take('account', limits)).toBe(0)
  now += 0.3
  expect(buckets.take('account', limits)).toBe(1_000)
  now += 999.2
  expect(buckets.take('account', limits)).toBe(1)
  now += 1
  expect(buckets.take('account', limits)).toBe(0)
})

test('several alerts of a second reach a limited channel one after another, also with a clock of fractions', async () => {
  const logged: string[] = []
  const { app, inChat } = await openLimited({ logged })
  await app.rule('sale')
  for (let n = 0; n < 3; n += 1) await purchase({ app })
  await app.settle(2_000)
  expect(inChat()).toHaveLength(1)
  for (let n = 0; n < 4; n += 1) await app.settle(1_001)
  expect(inChat()).toHaveLength(3)
  expect(app.got()).toHaveLength(3)
  expect(errorsIn(logged)).toEqual([])
})

test('a message that cannot be read fails with the reason, and the others are sent', async () => {
  const logged: string[] = []
  const app = await openAlertingApp({ logged })
  await app.rule('sale')
  for (let n = 0; n < 3; n += 1) await purchase({ app })
  await app.alerts.follow()
  const { store } = app.windfall
  await store.commit(() =>
    store
      .prepare(
        `update alert_messages set content = '{' where rowid = (select min(rowid) from alert_messages)`,
      )
      .run(),
  )
  await app.settle(2_000)
  expect(app.got()).toHaveLength(2)
  expect(sendsOf(app)).toEqual([
    {
      state: 'failed',
      words: expect.stringMatching(/^An error in Windfall keeps it from being sent: .*JSON/),
    },
    { state: 'sent', words: null },
    { state: 'sent', words: null },
  ])
  expect(errorsIn(logged)).toHaveLength(1)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(3)
})

/** Lets the text of the newest message be impossible to make. */
const breakNewest = ({ windfall: { store } }: AlertingApp) =>
  store.commit(() =>
    store
      .prepare(`
        update alert_messages set content = json_set(content, '$.subject.event_id', json('[1, 2]'))
        where rowid = (select max(rowid) from alert_messages)`)
      .run(),
  )

test('a message whose text cannot be made fails, and the others are sent', async () => {
  const logged: string[] = []
  const app = await openAlertingApp({ logged })
  await app.rule('sale')
  await purchase({ app })
  await app.alerts.follow()
  await breakNewest(app)
  await purchase({ app })
  await app.settle(2_000)
  expect(sendsOf(app)).toMatchObject([{ state: 'failed', words: expect.any(String) }, { state: 'sent' }])
  expect(errorsIn(logged)).toHaveLength(1)
  await app.settle(60_000)
  expect(app.got()).toHaveLength(1)
})

test('a summary counts a message whose text cannot be made, and quotes the others', async () => {
  const app = await openAlertingApp()
  const muted_until = app.clock() + 3_600_000
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { muted_until }))
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  await purchase({ app })
  await app.alerts.follow()
  await breakNewest(app)
  await app.settle(2_000)
  await app.settle(3_600_000)
  expect(app.got()).toMatchObject([
    { title: '📬 1 sale · $4.99 · 1 other message', body: expect.stringContaining('Renewal') },
  ])
})

test('a result that cannot be stored ends its message, so that its provider is not asked for ever', async () => {
  const logged: string[] = []
  const app = await openAlertingApp({ logged })
  await app.channel('other')
  await app.rule('sale')
  const { store } = app.windfall
  await store.commit(() =>
    store
      .prepare(`
        create trigger refuse before update of last_sent_at on alert_channels when new.name = 'phone'
        begin select raise(abort, 'refused by the test'); end`)
      .run(),
  )
  await purchase({ app })
  await app.settle(2_000)
  for (let n = 0; n < 3; n += 1) await app.settle(60_000)
  expect([app.got().length, app.got('other').length]).toEqual([1, 1])
  expect(sendsOf(app)).toEqual(
    expect.arrayContaining([
      { state: 'failed', words: expect.stringContaining('refused by the test') },
      { state: 'sent', words: null },
    ]),
  )
  expect(errorsIn(logged)).toHaveLength(1)
})

test('an event whose message cannot be stored does not stop the events after it', async () => {
  const logged: string[] = []
  const app = await openAlertingApp({ logged })
  await app.rule('sale')
  const { store } = app.windfall
  await store.commit(() =>
    store
      .prepare(`
        create trigger refuse before insert on alert_messages when not exists (select 1 from settings where key = 'seen')
        begin select raise(abort, 'refused by the test'); end`)
      .run(),
  )
  await purchase({ app })
  await app.settle(2_000)
  await store.commit(() => store.prepare("insert into settings (key, value) values ('seen', '')").run())
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  expect(errorsIn(logged)).toHaveLength(1)
})
