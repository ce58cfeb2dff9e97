/** The views of customers and events, loaded as one file. */
import { Customers } from '../customers/customers.tsx'
import { Profile } from '../customers/profile.tsx'
import { UserPage } from '../customers/user.tsx'
import { Coverage } from '../events/coverage/coverage.tsx'
import { EventPage } from '../events/event.tsx'
import { Events } from '../events/events.tsx'
import { Gaps } from '../events/gaps.tsx'

export const EVENT_VIEWS = {
  customers: Customers,
  customer: Profile,
  user: UserPage,
  events: Events,
  event: EventPage,
  gaps: Gaps,
  coverage: Coverage,
}
