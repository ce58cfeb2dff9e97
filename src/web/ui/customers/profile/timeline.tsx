/** The activity of a customer, newest first: payments, changes and identity. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { productName } from '../../../../apps/product_name.ts'
import { ExportMenu } from '../../charts/export_menu.tsx'
import { eventDetail } from '../../events/event_detail.ts'
import { eventLabel, lookOf, ORIGIN_LABELS } from '../../events/event_labels.ts'
import type { FeedEvent, FeedPage } from '../../events/feed_event.ts'
import { MrrChange } from '../../events/mrr_effect.tsx'
import { Amount } from '../../events/row.tsx'
import { usePagedQuery } from '../../paged_queries.ts'
import { Card } from '../../parts/card.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Pick } from '../../parts/popover.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { ShowMore } from '../../parts/show_more.tsx'
import { useQueryParams, useScope } from '../../scope.ts'
import { ago, date, instant, money } from '../../words.ts'
import type { Profile, Transaction } from './profile_answer.ts'
import { isRefund, RefundReasonText } from './refund_reason.tsx'
import { SECTION_TITLES, SECTIONS, type TimelineItem, timelineOf } from './timeline_items.ts'

/** Rows shown at first. */
const INITIAL_ROWS = 30
/** Pages of events that are loaded automatically; enough for most customers. */
const MAX_PAGES = 5

type Props = { profile: Profile; now: number; bundle: string | undefined }

export function Timeline({ profile, now, bundle }: Props): JSX.Element {
  const [params, change] = useQueryParams()
  const [shown, setShown] = useState(INITIAL_ROWS)
  const section = SECTIONS.find((one) => one === params.story) ?? 'all'
  const path = `/api/v1/customers/${profile.customer.id}/events`
  const paged = usePagedQuery<FeedPage>(path, { limit: 200 }, 'before')
  const { more, isBusy, problem, pages } = paged
  useEffect(() => {
    if (more && !isBusy && !problem && pages.length < MAX_PAGES) more()
  }, [pages.length])
  const items = timelineOf(
    pages.flatMap(({ events }) => events),
    profile.transactions,
    section,
  )
  const hiddenCount = items.length - shown
  return (
    <Card
      class="profile-story"
      title="Activity"
      tools={
        <>
          <Pick
            title="Filter"
            icon="filter"
            value={section}
            choices={SECTIONS.map((value) => ({ value, title: SECTION_TITLES[value] }))}
            onPick={(value) => change({ story: value === 'all' ? null : value })}
          />
          <ExportMenu csvUrls={{ csv: `${path}.csv` }} />
        </>
      }
    >
      <QueryView result={paged.first} height={360}>
        {() =>
          items.length === 0 ? (
            <Empty icon="events" title="No matching activity" />
          ) : (
            <ol class="happenings story" aria-label="Activity, newest first">
              {items.slice(0, shown).map((item) => (
                <Row key={item.key} item={item} profile={profile} now={now} bundle={bundle} />
              ))}
            </ol>
          )
        }
      </QueryView>
      {hiddenCount > 0 ? (
        <ShowMore
          more={() => setShown(shown + 3 * INITIAL_ROWS)}
          isBusy={false}
          problem={null}
          label={`Show more of ${items.length}`}
        />
      ) : (
        <ShowMore {...paged} />
      )}
    </Card>
  )
}

type RowProps = Props & { item: TimelineItem }

function Row({ item, profile, now, bundle }: RowProps): JSX.Element {
  const { event, transaction, at } = item
  const { icon, tone } = event ? lookOf(event) : PAYMENT
  return (
    <li class="happened">
      <span class={`happened-icon ${tone}`}>
        <Icon name={icon} />
      </span>
      {event ? <EventSummary event={event} /> : <PaymentRow transaction={transaction} bundle={bundle} />}
      <span class="happened-more">
        {event && event.origin !== 'live' && <span class="badge">{ORIGIN_LABELS[event.origin].title}</span>}
        {transaction && <span class="badge">From Apple’s transaction history</span>}
        {event && isRefund(event) && <RefundReasonText event={event} profile={profile} />}
        <MrrChange effect={event?.mrr_effect} />
      </span>
      {event && item.hasAmount && <Amount event={event} />}
      {transaction && (transaction.price_milli ?? 0) > 0 && (
        <span class="happened-amount good">{money(transaction.price_milli, transaction.currency)}</span>
      )}
      <time
        class="happened-time"
        dateTime={new Date(at).toISOString()}
        title={`${instant(at)}, ${ago(at, now)}`}
      >
        {date(at)}
      </time>
    </li>
  )
}

const PAYMENT = { icon: 'card', tone: 'quiet' } as const

function EventSummary({ event }: { event: FeedEvent }): JSX.Element {
  const { href } = useScope()
  const { path } = useLocation()
  const [params] = useQueryParams()
  const { product_id, bundle_id } = event.data
  const detail = eventDetail(event)
  return (
    <span class="happened-words">
      <a class="happened-title" href={href(path, { ...params, event: event.id })}>
        {eventLabel(event.type).title}
      </a>
      {product_id && (
        <span class="happened-product" title={product_id}>
          {' '}
          · {productName(product_id, bundle_id)}
        </span>
      )}
      {detail && <span class="happened-told"> {detail}</span>}
    </span>
  )
}

/** A transaction from Apple's history without a notification. */
const PaymentRow = ({
  transaction: { offer_discount, reason, product_id },
  bundle,
}: {
  transaction: Transaction
  bundle: string | undefined
}): JSX.Element => (
  <span class="happened-words">
    <span class="happened-title">
      {offer_discount === 'FREE_TRIAL' ? 'Free trial' : reason === 'RENEWAL' ? 'Renewal paid' : 'Payment'}
    </span>
    <span class="happened-product" title={product_id}>
      {' '}
      · {productName(product_id, bundle)}
    </span>
  </span>
)
