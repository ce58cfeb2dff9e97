/** Adds the current figures of customers, and the date of the subscription's state, to events as they are read. */
import type { Clock } from '../../clock.ts'
import type { FeedEvent } from '../../events/feed.ts'
import { snapshotTime } from '../../ledger/event_writer.ts'
import type { Customers } from './customers.ts'
import type { CustomerFigures } from './figures.ts'

/** The maximum time for which events wait for the figures of their customers. */
export const FIGURES_TIMEOUT_MS = 1_000

/**
 * The customer of an event as of `as_of`. `figures` is null with `behind` if the figures were not current in time, and
 * null without `behind` if no figures of the customer are stored.
 */
export type EventCustomer = CustomerFigures & { as_of: number; behind?: true }

/** An event with its customer; `customer` is null for an event without a customer. */
export type EnrichedEvent = FeedEvent & { customer: EventCustomer | null }

type Deps = { customers: Pick<Customers, 'waitUntilCurrent' | 'figuresOf'>; clock: Clock }

export type Enrichment = ReturnType<typeof openEnrichment>

export function openEnrichment({ customers, clock }: Deps) {
  /** Resolves to true if the figures of the events’ customers became current within `timeout_ms`. Never rejects. */
  async function ready(events: readonly FeedEvent[], timeout_ms: number): Promise<boolean> {
    const ids = customersOf(events)
    return ids.length === 0 || customers.waitUntilCurrent(ids, { timeout_ms })
  }

  /**
   * Adds the customers to events in one query, with their figures if `isReady`, and `as_of` to the subscription in the
   * snapshot.
   */
  function complete(events: readonly FeedEvent[], isReady: boolean): EnrichedEvent[] {
    const ids = customersOf(events)
    const found = ids.length === 0 ? new Map<string, CustomerFigures>() : customers.figuresOf(ids)
    const as_of = clock()
    const customerOf = (id: string): EventCustomer => {
      const { figures, ...identity } = found.get(id) ?? { id, users: [], figures: null }
      return isReady ? { ...identity, figures, as_of } : { ...identity, figures: null, as_of, behind: true }
    }
    return events.map((event) => ({
      ...event,
      data: withSubscriptionTime(event),
      customer: event.customer_id === null ? null : customerOf(event.customer_id),
    }))
  }

  /** Waits up to `timeout_ms` until the figures are current, then adds the customers to the events in either case. */
  const enrich = async (
    events: readonly FeedEvent[],
    timeout_ms: number = FIGURES_TIMEOUT_MS,
  ): Promise<EnrichedEvent[]> => complete(events, await ready(events, timeout_ms))

  return { ready, complete, enrich }
}

/** The snapshot with `as_of` in its subscription: the instant (milliseconds) whose state the subscription shows. */
function withSubscriptionTime({ data, ...event }: FeedEvent): FeedEvent['data'] {
  const { subscription } = data
  if (typeof subscription !== 'object' || subscription === null) return data
  return { ...data, subscription: { ...subscription, as_of: snapshotTime(event) } }
}

const customersOf = (events: readonly FeedEvent[]): string[] => [
  ...new Set(events.map(({ customer_id }) => customer_id).filter((id) => id !== null)),
]
