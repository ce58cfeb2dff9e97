/** Adds to events, as they are read, the name of their customer. Webhooks have the attributes instead. */
import type { Verification } from '../../attribution/link.ts'
import { type Customers, type DisplayName, NO_NAME } from './customers.ts'
import type { EnrichedEvent, Enrichment } from './enrichment.ts'

/** `display_name` is null if no user of the customer has the attribute that names users. */
type Named<Event> = Event & DisplayName

export function openEventNames({ displayNameOf }: Pick<Customers, 'displayNameOf'>) {
  function add<Event extends EnrichedEvent>(events: readonly Event[]): Named<Event>[] {
    const names = new Map<string, DisplayName>()
    return events.map((event) => {
      const { app_id } = event
      const users = usersOf(event)
      if (app_id === null || users.length === 0) return { ...event, ...NO_NAME }
      const key = JSON.stringify([app_id, users])
      const name = names.get(key) ?? displayNameOf(app_id, users)
      names.set(key, name)
      return { ...event, ...name }
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

type EventUser = { app_user_id: string; verification: Verification }

/** The users of the customer now; of an event without a customer, the user that it names. */
function usersOf({ customer, data }: EnrichedEvent): EventUser[] {
  if (customer !== null)
    return customer.users.map(({ app_user_id, verification }) => ({ app_user_id, verification }))
  const { user } = data as { user?: Partial<EventUser> | null }
  if (typeof user?.app_user_id !== 'string') return []
  return [{ app_user_id: user.app_user_id, verification: user.verification ?? 'unverified' }]
}
