/** Adds to events, as they are read, the name of their customer. Webhooks have the attributes instead. */
import type { Customers } from './customers.ts'
import type { EnrichedEvent, Enrichment } from './enrichment.ts'

/** `display_name` is null if no user of the customer has the attribute that names users. */
type Named<Event> = Event & { display_name: string | null }

export function openEventNames({ displayNameOf }: Pick<Customers, 'displayNameOf'>) {
  function add<Event extends EnrichedEvent>(events: readonly Event[]): Named<Event>[] {
    const names = new Map<string, string | null>()
    return events.map((event) => {
      const { app_id } = event
      const ids = userIdsOf(event)
      if (app_id === null || ids.length === 0) return { ...event, display_name: null }
      const key = JSON.stringify([app_id, ids])
      const name = names.has(key) ? (names.get(key) ?? null) : displayNameOf(app_id, ids)
      names.set(key, name)
      return { ...event, display_name: name }
    })
  }

  /** An enrichment that adds the names after its own data. */
  const around = <Event extends EnrichedEvent>({ enrich, ready, complete }: Enriching<Event>) => ({
    enrich: async (...args: Parameters<typeof enrich>) => add(await enrich(...args)),
    ready,
    complete: (...args: Parameters<typeof complete>) => add(complete(...args)),
  })

  return { around }
}

/** An enrichment whose events have more than the customer. */
type Enriching<Event> = {
  enrich: (...args: Parameters<Enrichment['enrich']>) => Promise<Event[]>
  ready: Enrichment['ready']
  complete: (...args: Parameters<Enrichment['complete']>) => Event[]
}

/** The users of the customer now; of an event without a customer, the user that it names. */
function userIdsOf({ customer, data }: EnrichedEvent): string[] {
  if (customer !== null) return customer.users.map(({ app_user_id }) => app_user_id)
  const { user } = data as { user?: { app_user_id?: string | null } | null }
  return typeof user?.app_user_id === 'string' ? [user.app_user_id] : []
}
