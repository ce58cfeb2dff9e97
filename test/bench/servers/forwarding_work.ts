/** What the benchmark asks the server to forward: copies of stored events, to endpoints behind them. */
import type { Windfall } from '../../../src/app.ts'
import { FORWARDED_TYPES } from '../../../src/events/vocabulary.ts'

/**
 * `multiply`: appends `events` copies of stored events. `begin`: adds an endpoint for each URL, the last `backlog`
 * events behind the head, and starts. `left`: the smallest number of events that an active endpoint has not read.
 */
export type ForwardingRequest =
  | { forwarding: 'multiply'; events: number }
  | { forwarding: 'begin'; urls: readonly string[]; backlog: number }
  | { forwarding: 'left' }

export type Left = { left: number }

const ROWS_PER_COMMIT = 5_000

export function openForwardingWork({ store, feed, forwarding, metrics, organizations, outgoing }: Windfall) {
  const types = JSON.stringify(FORWARDED_TYPES)
  const countOriginals = store.prepare<{ head: number; types: string }, { count: number }>(`
    select count(*) as count from events
    where seq <= :head and type in (select value from json_each(:types)) and customer_id is not null`)
  // Subjects of their own: a customer has a few events of a subscription, not thousands.
  const copy = store.prepare<{ head: number; types: string; limit: number; offset: number }>(`
    insert into events (id, organization_id, app_id, environment, type, origin, customer_id, subject, cause, body,
      occurred_at, signed_at, recorded_at)
    select 'evt_' || lower(hex(randomblob(12))), organization_id, app_id, environment, type, 'live', customer_id,
      lower(hex(randomblob(8))), 'copy', body, occurred_at, signed_at, recorded_at
    from events where seq <= :head and type in (select value from json_each(:types)) and customer_id is not null
    order by seq limit :limit offset :offset`)
  const setCursors = store.prepare<[number]>('update endpoints set cursor = ?')

  async function multiply(events: number): Promise<object> {
    const head = feed.head()
    const originals = countOriginals.get({ head, types })?.count ?? 0
    if (originals === 0) throw new Error('there are no events to copy')
    for (let copied = 0; copied < events; ) {
      const offset = copied % originals
      const limit = Math.min(events - copied, originals - offset, ROWS_PER_COMMIT)
      copied += (await store.commit(() => copy.run({ head, types, limit, offset }))).changes
    }
    await metrics.whenCurrent()
    return {}
  }

  async function begin(urls: readonly string[], backlog: number): Promise<object> {
    const { id: organization_id } = organizations.resolve(null)
    const everything = {
      apps: null,
      environment: null,
      types: null,
      is_ordered: false,
      max_per_second: null,
      headers: {},
    }
    const endpoint = { ...everything, organization_id, name: null, kind: 'events', source: 'bench' } as const
    await store.commit(() => {
      // The database is a copy.
      outgoing.held.resume()
      for (const url of urls) forwarding.endpoints.create({ ...endpoint, url })
      setCursors.run(feed.head() - backlog)
    })
    forwarding.start()
    forwarding.wake()
    return {}
  }

  function left(): Left {
    const active = forwarding.endpoints.list().filter(({ state }) => state === 'active')
    return { left: Math.min(...active.map(({ cursor }) => feed.head() - cursor)) }
  }

  return async (message: ForwardingRequest): Promise<object> => {
    if (message.forwarding === 'multiply') return multiply(message.events)
    if (message.forwarding === 'begin') return begin(message.urls, message.backlog)
    return left()
  }
}
