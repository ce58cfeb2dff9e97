/** A Windfall that forwards to a scripted receiver on 127.0.0.1, with a clock turned by hand. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { NewEvent } from '../../src/events/feed.ts'
import type { Delivery } from '../../src/forwarding/deliveries/delivery.ts'
import type { NewEndpoint } from '../../src/forwarding/endpoints/administration.ts'
import { EVERY_EVENT, type ReplayFilter } from '../../src/forwarding/replays/selection.ts'
import { fractionIn } from '../guards/bound_numbers.ts'
import { handClock, openTestApp, type TestApp, type TestOptions } from '../helpers.ts'

/** A request as it arrived. `index` counts from 0. */
export type Received = { index: number; path: string; headers: IncomingHttpHeaders; body: string; id: string }

/** What the receiver does with a request: a status, or anything else by itself. */
export type Behaviour = (request: Received, response: ServerResponse) => number | undefined

/** Opens a receiver. `behave` can be replaced at any time. */
export async function openHttpReceiver(behave: Behaviour = () => 200) {
  const requests: Received[] = []
  const state = { behave }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('end', () => {
      const { headers, url: path = '' } = request
      const id = String(headers['webhook-id'] ?? headers['windfall-id'] ?? '')
      const received = { index: requests.length, path, headers, body: Buffer.concat(chunks).toString(), id }
      expect(fractionIn(received.body)).toBeNull()
      requests.push(received)
      const status = state.behave(received, response)
      if (status !== undefined) response.writeHead(status).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    requests,
    ids: () => requests.map(({ id }) => id),
    behave: (next: Behaviour) => {
      state.behave = next
    },
  }
}

export type ForwardingApp = TestApp & ReturnType<typeof drivenBy>

/** Opens a Windfall that may send to 127.0.0.1 and has started forwarding. */
export async function openForwardingApp(options: TestOptions = {}): Promise<ForwardingApp> {
  const clock = options.clock ?? handClock()
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1', ...options.env }
  const app = await openTestApp({ ...options, clock, env })
  app.windfall.forwarding.start()
  return Object.assign(app, drivenBy(app))
}

let number = 0
const EVERYTHING = {
  apps: null,
  environment: null,
  types: null,
  is_ordered: false,
  max_per_second: null,
  headers: {},
}

function drivenBy({ windfall, organization, clock }: TestApp) {
  const { forwarding, store } = windfall

  /** Creates an endpoint for the default types. */
  const addEndpoint = (url: string, settings: Partial<NewEndpoint> = {}) =>
    store.commit(() =>
      forwarding.endpoints.create({
        ...EVERYTHING,
        organization_id: organization.id,
        name: null,
        kind: 'events',
        source: 'dashboard',
        url,
        ...settings,
      }),
    )

  /** Appends live events. `subject` is the key of ordered endpoints. */
  const append = (count: number, fields: Partial<NewEvent> = {}): Promise<string[]> =>
    store.commit(() =>
      Array.from({ length: count }, () => {
        number += 1
        const event = windfall.feed.append({
          organization_id: organization.id,
          app_id: windfall.apps.list()[0]?.id ?? null,
          environment: 'production',
          type: 'gap.found',
          origin: 'live',
          customer_id: null,
          subject: null,
          cause: `test/${number}`,
          data: () => ({ number }),
          occurred_at: clock(),
          signed_at: null,
          ...fields,
        })
        return event?.id ?? ''
      }),
    )

  /** Turns the clock second by second, also while nothing can be stored. */
  async function tickFor(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await forwarding.tick().catch(() => {})
      await forwarding.settled()
      clock.turn(1_000)
    }
  }

  /** Waits until everything that is due was sent. */
  const settled = async (): Promise<void> => {
    await forwarding.tick()
    await forwarding.settled()
  }

  const nextDue = store.prepare<object, { at: number | null }>(`
    select min(at) as at from (
      select next_at as at from deliveries join endpoints on endpoints.id = endpoint_id
      where deliveries.state = 'waiting' and endpoints.state = 'active' and next_at is not null
      union all select next_probe_at from endpoints where state = 'failing'
      union all select hold_until_at from endpoints where state in ('active', 'failing') and hold_until_at > :now)
    where at > :now`)

  /** Turns the clock to each instant at which something is due, up to `ms` from now. */
  async function run(ms: number): Promise<void> {
    const until = clock() + ms
    await settled()
    for (;;) {
      const next = nextDue.get({ now: clock() })?.at ?? null
      if (next === null || next > until) break
      clock.set(next)
      await settled()
    }
    clock.set(until)
    await settled()
  }

  const states = (): Record<string, string> =>
    Object.fromEntries(
      store
        .prepare<[], { event_id: string; state: string }>(
          'select event_id, state from deliveries order by id',
        )
        .all()
        .map(({ event_id, state }) => [event_id, state]),
    )

  const selectRows = store.prepare<[string], Delivery>(
    'select * from deliveries where endpoint_id = ? order by id',
  )
  /** The deliveries of an endpoint, oldest first. */
  const rows = (endpoint_id: string): Delivery[] => selectRows.all(endpoint_id)

  /** All attempts of an endpoint, in the order of their deliveries. */
  const attempts = (endpoint_id: string) =>
    rows(endpoint_id).flatMap(({ id }) => forwarding.log.attemptsOf(id))

  /** Starts a replay of the events that pass a filter. */
  const replay = (endpoint_id: string, filter: Partial<ReplayFilter> = {}) =>
    store.commit(() => {
      store.afterCommit(forwarding.wake)
      const { endpoints, replays } = forwarding
      return replays.start(endpoints.get(endpoint_id), { ...EVERY_EVENT, ...filter }, 'test')
    })

  const endpoint = (id: string) => forwarding.endpoints.get(id)
  return { addEndpoint, append, tickFor, settled, run, states, rows, attempts, replay, endpoint }
}
