/** The top of a profile: identity, status, next event and value. */
import type { JSX } from 'preact'
import { appName, useApps } from '../../apps.ts'
import { ExportMenu } from '../../charts/export_menu.tsx'
import { countryName } from '../../countries/names.ts'
import { addressOf } from '../../http.ts'
import { useOtherDefinitions } from '../../metrics/definitions.ts'
import { Formula } from '../../metrics/formula.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Stat } from '../../parts/card.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Title } from '../../parts/title.tsx'
import { displayQuery, useScope } from '../../scope.ts'
import { ago, count, date, instant, money, plural } from '../../words.ts'
import type { Customer } from '../customer.ts'
import { monthsPaid, statusLabel } from '../customer.ts'
import { customerName, firstUserId, isAnonymous, Verified } from '../person.tsx'
import { verifiedCount } from './identity.tsx'
import { outlookOf } from './outlook.ts'
import type { Profile, Subscription } from './profile_answer.ts'

type Props = { profile: Profile; now: number; bundle: string | undefined; onEvidence: () => void }

/** States by priority: subscriptions that give access come first. */
const STATE_PRIORITY: Subscription['state'][] = ['active', 'trial', 'grace', 'retry', 'expired', 'revoked']

const leadingLineage = ({ lineages }: Profile): Subscription | null =>
  lineages
    .flatMap(({ subscription }) => subscription ?? [])
    .toSorted(
      (one, other) =>
        STATE_PRIORITY.indexOf(one.state) - STATE_PRIORITY.indexOf(other.state) ||
        (other.expires_at ?? 0) - (one.expires_at ?? 0),
    )[0] ?? null

export function Headline({ profile, now, bundle, onEvidence }: Props): JSX.Element {
  const { customer } = profile
  const apps = useApps().data?.apps
  const userId = firstUserId(customer.app_user_ids)
  const others = customer.app_user_ids.filter((id) => id !== userId)
  const name = customerName(customer)
  const links = verifiedCount(profile.links.filter((link) => link.app_user_id === userId))
  return (
    <>
      <header class="page-head profile-head">
        <div class="stack-s">
          <Title class="identity-name">
            <bdi>{isAnonymous(customer) ? `Anonymous · ${customer.id}` : name}</bdi>{' '}
            {userId !== undefined && <Verified {...links} />}
            {customer.display_name_verified === false && links.verified > 0 && (
              <span class="badge">Unverified name</span>
            )}
          </Title>
          <p>
            {[
              appName(apps, customer.app_id),
              customer.country && countryName(customer.country),
              customer.environment === 'sandbox' && 'Sandbox',
              `last seen ${ago(customer.last_seen_at, now)}`,
              name !== userId && userId,
              others.length > 0 && `also ${others.join(', ')}`,
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </div>
        <button type="button" class="button" onClick={onEvidence}>
          <Icon name="key" /> Signed evidence
        </button>
      </header>
      <section class="card card-pad profile-figures" aria-label="Summary">
        <div class="spread">
          <CurrentStatus profile={profile} bundle={bundle} />
          <SummaryExport customer={customer} />
        </div>
        <Figures profile={profile} />
      </section>
    </>
  )
}

/** The CSV of the customer as in the list of customers. */
function SummaryExport({ customer: { id, app_id, environment } }: { customer: Customer }): JSX.Element {
  const { scope } = useScope()
  const query = { query: id, app: app_id, environment, ...displayQuery(scope) }
  return <ExportMenu csvUrls={{ csv: addressOf('/api/v1/customers.csv', query) }} of="summary" />
}

function CurrentStatus({ profile, bundle }: { profile: Profile; bundle: string | undefined }): JSX.Element {
  const { status, risk_milli, currency } = profile.customer
  const subscription = leadingLineage(profile)
  const outlook = subscription && outlookOf(subscription, bundle)
  const { title, tone } = outlook ?? statusLabel(status)
  return (
    <div class="profile-standing">
      <span class={`badge ${tone}`}>{title}</span>
      <p>{outlook?.next ?? 'Never subscribed. One-time purchases only.'}</p>
      {risk_milli > 0 && (
        <p class="warn small">
          <Icon name="warning" /> MRR at risk {money(risk_milli, currency)}
        </p>
      )}
    </div>
  )
}

/** The API's definition of a customer figure. */
function useAbout(): (name: string) => JSX.Element | null {
  const definitions = useOtherDefinitions()?.customers
  return (name) => {
    const definition = definitions?.find((one) => one.name === name)
    return definition ? (
      <>
        {definition.sentence}
        <Formula text={definition.formula} />
      </>
    ) : null
  }
}

/** `1 refunded, since Jun 15, 2026` */
const paymentsUnder = ({ first_paid_at }: Customer, refunded: number): string =>
  first_paid_at === null
    ? 'none yet'
    : [refunded > 0 && `${count(refunded)} refunded`, `since ${date(first_paid_at)}`]
        .filter(Boolean)
        .join(', ')

function Figures({ profile: { customer, proceeds, transactions } }: { profile: Profile }): JSX.Element {
  const about = useAbout()
  const { currency, refunded_milli } = customer
  const hasUnknownProceeds = proceeds !== null && proceeds.transactions < customer.payments
  return (
    <div class="stats profile-stats">
      <Stat
        label="Lifetime value"
        about={about('ltv_milli')}
        under={
          refunded_milli > 0
            ? `after ${money(refunded_milli, currency)} refunded`
            : `gross, in ${currency ?? '–'}`
        }
      >
        <Amount milli={customer.ltv_milli} currency={currency} />
      </Stat>
      <Stat
        label="Proceeds"
        about={about('proceeds_milli')}
        under={
          proceeds === null
            ? 'not known yet'
            : proceeds.estimated > 0
              ? `${count(proceeds.estimated)} of ${count(proceeds.transactions)} estimated`
              : hasUnknownProceeds
                ? `of ${plural(proceeds.transactions, 'payment')}`
                : 'from Apple’s reports'
        }
      >
        <Amount milli={proceeds?.base_milli} currency={currency} />
      </Stat>
      <Stat
        label="Payments"
        under={paymentsUnder(customer, transactions.filter(({ refunded }) => refunded !== null).length)}
      >
        {count(customer.payments)}
      </Stat>
      <Stat
        label="Months paid"
        about={about('months_paid')}
        under={
          customer.last_paid_at ? (
            <span title={instant(customer.last_paid_at)}>last {date(customer.last_paid_at)}</span>
          ) : (
            ''
          )
        }
      >
        {monthsPaid(customer)}
      </Stat>
      <Stat label="MRR" about={about('mrr_milli')} under={customer.mrr_milli > 0 ? 'now' : 'none now'}>
        <Amount milli={customer.mrr_milli} currency={currency} />
      </Stat>
      <UnconvertedAmounts customer={customer} />
    </div>
  )
}

/** Notes on payments that the figures do not include. */
function UnconvertedAmounts({ customer }: { customer: Customer }): JSX.Element {
  const unconverted = Object.entries(customer.unconverted ?? {})
  return (
    <>
      {unconverted.length > 0 && (
        <p class="small warn profile-apart">
          Not included (no exchange rate): {unconverted.map(([code, milli]) => money(milli, code)).join(', ')}
          .
        </p>
      )}
      {customer.unpriced > 0 && (
        <p class="small quiet profile-apart">
          Apple has not reported the price of {plural(customer.unpriced, 'payment')}.
        </p>
      )}
    </>
  )
}
