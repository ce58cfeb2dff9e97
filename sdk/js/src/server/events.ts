/** Reads the feed of events from a seq on. */
import { WindfallError } from './errors.ts'
import type { EventType, FeedEvent } from './event_types.ts'

export interface ReadEvents {
  /** The seq after which to read; 0 for all. */
  after: number
  /** All but `transaction.recorded` by default. `subscription.*` names all of a noun. */
  types?: readonly (EventType | `${string}.*`)[] | undefined
  /** The most events of one request, 1 to 500; 100 by default. */
  limit?: number | undefined
  /** A bundle id or an app id. */
  app?: string | undefined
  environment?: 'production' | 'sandbox' | undefined
  origin?: 'live' | 'recovered' | 'backfill' | undefined
}

/** A page of the feed. `next` is the `after` of the following page. A page can be empty before the end. */
export interface EventsPage {
  events: FeedEvent[]
  next: number
}

/** Events up to the end of the feed, which are read while they are asked for. */
export interface EventsReader extends AsyncIterable<FeedEvent> {
  pages(): AsyncIterable<EventsPage>
}

type Query = Record<string, string | undefined>

const DEFAULT_LIMIT = 100

/** Opens a reader. `read` sends one request. */
export function openEvents(options: ReadEvents, read: (query: Query) => Promise<EventsPage>): EventsReader {
  const { after, types, limit = DEFAULT_LIMIT, app, environment, origin } = options
  const query = { type: types?.join(','), limit: String(limit), app, environment, origin }

  async function* pages(): AsyncGenerator<EventsPage> {
    if (!Number.isSafeInteger(after) || after < 0)
      throw new WindfallError('invalid_argument', 'after must be a seq: a whole number from 0')
    for (let from = after; ; ) {
      const { events, next } = await read({ ...query, after: String(from) })
      if (next <= from) return
      yield { events, next }
      from = next
    }
  }

  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { events } of pages()) yield* events
    },
  }
}
