/** A row of the feed. */
import type { JSX } from 'preact'
import { productName } from '../../../apps/product_name.ts'
import { anonymityOf } from '../../../attribution/anonymous.ts'
import { Flag } from '../countries/flag.tsx'
import { countryName } from '../countries/names.ts'
import { firstUserId, labelOf, ReportedName } from '../customers/person.tsx'
import { skippingSame } from '../loading/skipping.ts'
import { AppMark } from '../marks/app_mark.tsx'
import { Icon } from '../parts/icons.tsx'
import { ago, instant, money } from '../words.ts'
import { eventDetail } from './event_detail.ts'
import { amountOf, eventLabel, lookOf } from './event_labels.ts'
import type { FeedEvent } from './feed_event.ts'
import { MrrChange } from './mrr_effect.tsx'
import { shownAt } from './shown_time.ts'

type RowProps = {
  event: FeedEvent
  /** The app’s name if the list contains events of several apps; otherwise null. */
  app: string | null
  now: number
  isNew: boolean
  href: (path: string) => string
  /** Link target of the title; the customer by default. */
  to?: string
}

export const Amount = ({ event }: { event: FeedEvent }): JSX.Element | null => {
  const amount = amountOf(event)
  if (amount === null) return null
  return (
    <span class={`happened-amount ${amount.milli < 0 ? 'bad' : 'good'}`}>
      {money(amount.milli, amount.currency)}
    </span>
  )
}

/** Shows a generic name for anonymous ids, which are long and meaningless. */
const userName = (id: string): string => (anonymityOf(id) === 'sure' ? 'Anonymous user' : id)

/** The user of the event, else the first user of the customer now. */
function userOf({ data: { user }, customer }: FeedEvent) {
  if (user?.app_user_id) return { id: user.app_user_id, verification: user.verification }
  const users = customer?.users ?? []
  const id = firstUserId(users.map(({ app_user_id }) => app_user_id))
  const known = users.find(({ app_user_id }) => app_user_id === id)
  return known ? { id: known.app_user_id, verification: known.verification } : null
}

/** The name of the customer as in the list of customers with its label, else the user with that of the event. */
const EventCustomer = ({ event }: { event: FeedEvent }): JSX.Element | null => {
  const user = userOf(event)
  if (user === null) return null
  const label = labelOf(event.display_name_verified, user.verification === 'verified')
  return (
    <span class="happened-user" title={user.id}>
      <ReportedName class="cut" label={label}>
        {event.display_name ?? userName(user.id)}
      </ReportedName>
    </span>
  )
}

const ORIGINS: Record<FeedEvent['origin'], string | null> = {
  live: null,
  recovered: 'Recovered',
  backfill: 'From history',
}

/** Whether the product name already contains the app name. */
const productNameContains = ({ data: { product_id, bundle_id } }: FeedEvent, app: string): boolean =>
  productName(product_id ?? '', bundle_id)
    .toLowerCase()
    .includes(app.toLowerCase())

function EventText({ event, titleHref }: { event: FeedEvent; titleHref: string | null }): JSX.Element {
  const { title } = eventLabel(event.type)
  const { product_id, bundle_id } = event.data
  const detail = eventDetail(event)
  return (
    <span class="happened-words">
      {titleHref ? (
        <a class="happened-title" href={titleHref}>
          {title}
        </a>
      ) : (
        <span class="happened-title">{title}</span>
      )}
      {product_id && (
        <span class="happened-product" title={product_id}>
          {' '}
          <span aria-hidden="true">·</span> {productName(product_id, bundle_id)}
        </span>
      )}
      {detail && <span class="happened-told"> {detail}</span>}
    </span>
  )
}

type ShownProps = Pick<RowProps, 'event' | 'app' | 'isNew'> & {
  relativeTime: string
  titleHref: string | null
}

/** A burst of events renders only the new rows, and those whose time reads another. */
const ShownRow = skippingSame(({ event, app, isNew, relativeTime, titleHref }: ShownProps) => {
  const { icon, tone } = lookOf(event)
  const at = chargedAt(event)
  return (
    <li class={isNew ? 'happened is-new' : 'happened'}>
      <span class={`happened-icon ${tone}`}>
        <Icon name={icon} />
      </span>
      <EventText event={event} titleHref={titleHref} />
      <span class="happened-more">
        {ORIGINS[event.origin] && <span class="badge">{ORIGINS[event.origin]}</span>}
        {app && event.app_id && <AppMark id={event.app_id} />}
        {app && !productNameContains(event, app) && <span class="happened-country">{app}</span>}
        {event.data.country && (
          <span class="happened-country">
            <Flag code={event.data.country} /> {countryName(event.data.country)}
          </span>
        )}
        <EventCustomer event={event} />
        <MrrChange effect={event.mrr_effect} />
      </span>
      <Amount event={event} />
      <time
        class="happened-time"
        dateTime={new Date(at).toISOString()}
        title={
          at < event.occurred_at ? `${instant(at)}, in effect ${instant(event.occurred_at)}` : instant(at)
        }
      >
        {relativeTime}
      </time>
    </li>
  )
})

/** Apple charges a renewal up to a day before the renewal takes effect. The earlier instant is shown. */
const chargedAt = ({ occurred_at, recorded_at }: FeedEvent): number => Math.min(occurred_at, recorded_at)

export const EventRow = ({ event, app, now, isNew, href, to }: RowProps): JSX.Element => (
  <ShownRow
    event={event}
    app={app}
    isNew={isNew}
    relativeTime={ago(shownAt(event), now)}
    titleHref={to ?? (event.customer_id ? href(`/customers/${event.customer_id}`) : null)}
  />
)
