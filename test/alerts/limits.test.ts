/** The limits of providers: each account has its own, and what is above them waits. */
import { expect, test } from 'vitest'
import { kindOf } from '../../src/alerts/channels/kinds.ts'
import { openBuckets } from '../../src/alerts/sending/buckets.ts'
import { openAlertingApp, openLimited, purchase } from './alerting.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How many messages a channel may send at once, and how long the next one waits. */
function allowed(kind: string, settings: object, most = 100): [number, number] {
  const buckets = openBuckets(() => 0)
  const limits = kindOf(kind).limitsOf(settings as Record<string, unknown>)
  for (let count = 0; count < most; count += 1) {
    const wait = buckets.take(kind, limits)
    if (wait > 0) return [count, wait]
  }
  return [most, 0]
}

test('every kind keeps the limit that its provider documents', () => {
  expect(allowed('telegram', { chat_id: '123' })).toEqual([1, SECOND])
  expect(allowed('slack', {})).toEqual([1, SECOND])
  for (const kind of ['mattermost', 'teams', 'google_chat']) expect(allowed(kind, {})).toEqual([1, SECOND])
  expect(allowed('gotify', {})).toEqual([100, 0])
  expect(allowed('discord', {})).toEqual([5, 2 * SECOND])
  expect(allowed('ntfy', { server: 'https://ntfy.sh' })).toEqual([50, 5 * MINUTE])
  expect(kindOf('pushover').limitsOf({})).toEqual([{ count: 10_000, per_ms: 30 * DAY }])
  expect(allowed('email', {})).toEqual([60, HOUR])
  expect(allowed('json', {})).toEqual([100, 0])
})

/** The messages that a channel sends in a time if one waits always. */
function sentIn(duration: number, kind: string, settings: object): number {
  let [now, sent] = [0, 0]
  const buckets = openBuckets(() => now)
  const limits = kindOf(kind).limitsOf(settings as Record<string, unknown>)
  for (; now < duration; now += Math.max(SECOND, duration / 1_000))
    while (sent < 9_999 && buckets.take(kind, limits) === 0) sent += 1
  return sent
}

test('a group of Telegram gets 20 a minute and a person 60; ntfy.sh 250 a day, a server of the owner more', () => {
  expect(sentIn(MINUTE, 'telegram', { chat_id: '-100' })).toBe(20)
  expect(sentIn(MINUTE, 'telegram', { chat_id: '@sales_channel' })).toBe(20)
  expect(sentIn(MINUTE, 'telegram', { chat_id: '100' })).toBe(60)
  expect(sentIn(DAY, 'ntfy', { server: 'https://ntfy.sh' })).toBe(250)
  expect(sentIn(HOUR, 'ntfy', { server: 'https://ntfy.example.com' })).toBe(600)
})

test('channels of one account share its limit, those of another account do not wait, and nothing is lost', async () => {
  const app = await openAlertingApp()
  const { store, alerts } = app.windfall
  const server = new URL(app.receiver.url).origin
  const add = (name: string, chat_id: string) =>
    alerts.channelAdministration.add({
      organization_id: app.organization.id,
      name,
      kind: 'telegram',
      settings: { server, chat_id },
      secrets: { token: '123456:AAbbCCddEEffGGhhIIjjKKllMMnn' },
      hides_amounts: false,
      digests: [],
      source: 'dashboard',
    })
  await store.commit(() => {
    for (const { id } of alerts.channels.list()) alerts.channels.remove(id)
    add('one', '7')
    add('same', '7')
    add('other', '8')
    for (const { id } of alerts.rules.list()) alerts.rules.remove(id)
  })
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  const chats = (): string[] => app.receiver.requests.map(({ body }) => JSON.parse(body).chat_id).toSorted()
  expect(chats()).toEqual(['7', '8'])
  await app.settle(900)
  expect(chats()).toEqual(['7', '8'])
  await app.settle(100)
  expect(chats()).toEqual(['7', '7', '8'])
})

test('above the limit of a provider messages are sent in their order, and none is written while it waits', async () => {
  const { app, inChat } = await openLimited()
  const { store } = app.windfall
  await app.rule('sale')
  for (let n = 1; n <= 120; n += 1) await purchase({ app, transaction: { price: n * 1_000 } })
  await app.settle(2_000)
  const waiting = () =>
    new Map(
      store
        .prepare<[], [string, number]>('select message_id, due_at from alert_sends where due_at is not null')
        .raw()
        .all(),
    )
  for (let second = 1; second <= 5; second += 1) {
    const before = waiting()
    expect(before.size).toBeGreaterThan(100)
    await app.settle(SECOND)
    expect(inChat()).toHaveLength(1 + second)
    for (const [id, due_at] of waiting()) expect(before.get(id)).toBe(due_at)
  }
  const prices = inChat().map((title) => Number(/\d+/.exec(title)?.[0]))
  expect(prices).toEqual([1, 2, 3, 4, 5, 6])
})
