/** The kit reads the feed from a seq on, as the server has it. */
import { expect, test } from 'vitest'
import {
  createClient,
  type FeedEvent,
  type ReadEvents,
  verifyWebhook,
  WindfallError,
} from '../../../sdk/js/src/server/server.ts'
import { BUNDLE, renewedPayload } from '../../apple/samples.ts'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import { openServed, type Served, serve } from './serving.ts'

async function read(app: Pick<Served, 'clientOf'>, reading: ReadEvents): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for await (const event of app.clientOf().readEvents(reading)) events.push(event)
  return events
}

/** A Windfall with `count` events. */
async function openWithEvents(count: number) {
  const app = await openServed()
  const { store, feed } = app.windfall
  const append = (more: number) =>
    store.commit(() => {
      for (let number = 0; number < more; number += 1)
        feed.append({
          organization_id: app.organization.id,
          app_id: app.windfall.apps.list()[0]?.id ?? null,
          environment: number % 2 === 0 ? 'production' : 'sandbox',
          type: number % 10 === 0 ? 'gap.filled' : 'gap.found',
          origin: 'live',
          customer_id: null,
          subject: null,
          cause: `test/${app.feed().length}/${number}`,
          data: () => ({ number }),
          occurred_at: app.clock(),
          signed_at: null,
        })
    })
  await append(count)
  return { ...app, append }
}

const seqsOf = (events: readonly { seq: number }[]): number[] => events.map(({ seq }) => seq)

test('every event is read once and in order, whatever the size of a page, from any seq', async () => {
  const app = await openWithEvents(47)
  const all = seqsOf(app.feed())
  for (const limit of [1, 10, 47, 500, undefined])
    expect(seqsOf(await read(app, { after: 0, ...(limit && { limit }) }))).toEqual(all)
  const [, , third = 0] = all
  expect(seqsOf(await read(app, { after: third }))).toEqual(all.slice(3))
  expect(await read(app, { after: all.at(-1) ?? 0 })).toEqual([])
})

test('events of some types, of an environment and of an app are read', async () => {
  const app = await openWithEvents(30)
  const countOf = async (reading: Omit<ReadEvents, 'after'>) =>
    (await read(app, { after: 0, ...reading })).length
  expect(await countOf({ types: ['gap.filled'] })).toBe(3)
  expect(await countOf({ types: ['gap.filled', 'gap.found'] })).toBe(30)
  expect(await countOf({ types: ['gap.*', 'subscription.renewed'], limit: 7 })).toBe(30)
  expect(await countOf({ types: ['subscription.*'] })).toBe(0)
  expect(await countOf({ environment: 'sandbox' })).toBe(15)
  expect(await countOf({ app: BUNDLE, origin: 'live' })).toBe(30)
  expect(await countOf({ origin: 'backfill' })).toBe(0)
})

test('pages have the position to store, also pages without events', async () => {
  const app = await openWithEvents(25)
  const pages = []
  for await (const page of app.clientOf().readEvents({ after: 0, limit: 10 }).pages()) pages.push(page)
  expect(pages.map(({ events }) => events.length)).toEqual([10, 10, 5])
  expect(pages.map(({ next }) => next)).toEqual([9, 19, 24].map((index) => app.feed()[index]?.seq))
  const empty = []
  const none = app.clientOf().readEvents({ after: 0, types: ['import.finished'] })
  for await (const page of none.pages()) empty.push(page)
  expect(empty).toEqual([{ events: [], next: app.feed().at(-1)?.seq }])
})

test('what happens while events are read is read too, and reading can stop', async () => {
  const app = await openWithEvents(10)
  const seen: number[] = []
  for await (const event of app.clientOf().readEvents({ after: 0, limit: 10 })) {
    seen.push(event.seq)
    if (seen.length === 1) await app.append(5)
    if (seen.length === 12) break
  }
  expect(seen).toEqual(seqsOf(app.feed()).slice(0, 12))
})

test('a seq beyond the head is refused with the head to continue from', async () => {
  const app = await openWithEvents(3)
  const head = app.feed().at(-1)?.seq
  const error = await read(app, { after: 1_000_000 }).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(WindfallError)
  expect(error).toMatchObject({ status: 410, code: 'feed_restarted', head })
  for (const after of [-1, 1.5, Number.NaN, '1' as never])
    expect(await read(app, { after }).catch(({ code }) => code)).toBe('invalid_argument')
  expect(await read(app, { after: 0, limit: 501 }).catch(({ code }) => code)).toBe('invalid_request')
  expect(await read(app, { after: 0, types: ['no.such' as never] }).catch(({ code }) => code)).toBe(
    'invalid_request',
  )
})

test('an event of the feed and its webhook are the same event', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { secret } = await app.addEndpoint(receiver.url, { types: ['subscription.renewed'] })
  await app.notify(renewedPayload(app.authority))
  await app.settled()
  const [received] = receiver.requests
  if (received === undefined) throw new Error('nothing arrived')
  const webhook = await verifyWebhook(received.body, received.headers, secret, { now: app.clock() })
  const client = createClient({ url: await serve(app), readToken: await app.token() })
  const events: FeedEvent[] = []
  for await (const event of client.readEvents({ after: 0, types: ['subscription.*'] })) events.push(event)
  const [event] = events
  if (webhook.type !== 'subscription.renewed' || event?.type !== webhook.type) throw new Error('no renewal')
  // A webhook does not say what the event changes in MRR: later facts change that. It has attributes instead of a name.
  const { mrr_effect, display_name, display_name_verified, ...common } = event
  expect(mrr_effect).toMatchObject({ after_milli: 4990 })
  expect(display_name).toBe(null)
  expect(webhook.data).toMatchObject({ ...common, customer: expect.anything() })
  expect(webhook.data.subscription_now?.has_access).toBe(true)
  expect(webhook.data.revenue_milli).toBe(4990)
  expect(event.data.money).toEqual({ price_milli: 4990, currency: 'USD' })
})
