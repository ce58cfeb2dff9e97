/** The cards of today's revenue, yesterday's proceeds and MRR. */
import type { ComponentChildren, JSX } from 'preact'
import { type CsvUrls, ExportMenu } from '../charts/export_menu.tsx'
import { Spark } from '../charts/spark.tsx'
import type { Query } from '../http.ts'
import { useDefinition } from '../metrics/definitions.ts'
import { Formula } from '../metrics/formula.tsx'
import { csvUrlsOf } from '../metrics/metric_query.ts'
import { noPeriodText } from '../metrics/origins.ts'
import { Amount } from '../parts/amount.tsx'
import { Delta } from '../parts/card.tsx'
import { Tip } from '../parts/popover.tsx'
import { displayQuery, sourceQuery, useScope } from '../scope.ts'
import { count, money, plural, plusDays, share, shortMoney, signedMoney, weekday } from '../words.ts'
import { certaintyText, type TodayFigures } from './certainty.ts'
import { courseOf } from './course.ts'
import { refundCounter } from './refund_counter.ts'

/** The days before today in the line of MRR. */
const MRR_DAYS = 30
/** The metric that *Revenue today* counts beside the parts of revenue. */
const OTHERS = [{ name: 'new_trials', title: 'Trials' }]

/** Returns the URL of the CSV of a metric by day until today, in the scope of the figures. */
function useCsv({ today_on, basis }: TodayFigures): (metric: string, query: Query) => string {
  const { scope } = useScope()
  const shared = { ...sourceQuery(scope), ...displayQuery(scope), interval: 'day', to: today_on }
  const amounts = { currency: scope.currency, basis: basis === 'gross' ? null : basis }
  return (metric, query) =>
    csvUrlsOf(`/api/v1/metrics/${metric}`, { ...shared, ...(metric !== 'new_trials' && amounts), ...query })
      .csv
}

/** `about` replaces the API's definition of the metric. */
type LabelProps = { metric: string; about?: string; files: CsvUrls; children: string }

/** A figure's name with its definition and its CSV. */
function Label({ metric, about, files, children }: LabelProps): JSX.Element {
  const definition = useDefinition(metric)
  return (
    <header class="hero-head">
      <h2 class="label">
        {children}
        {about && <Tip title={children}>{about}</Tip>}
        {!about && definition && (
          <Tip title={definition.title}>
            {definition.sentence}
            <Formula text={definition.formula} />
          </Tip>
        )}
      </h2>
      <ExportMenu csvUrls={files} of={children.toLowerCase()} />
    </header>
  )
}

/** Progress of the day: the bar is the revenue compared with a typical day, with a labeled mark. */
function DayProgress({ today }: { today: TodayFigures }): JSX.Element {
  const { usual, revenue, day_gone, currency, today_on } = today
  const name = weekday(today_on)
  const elapsed = share(day_gone, 0)
  if (revenue.milli == null) return <p class="small quiet">{elapsed} of the day has passed.</p>
  if (usual.milli === null || usual.milli <= 0)
    return (
      <p class="small quiet">
        {elapsed} of the day has passed. No earlier {name} to compare with yet.
      </p>
    )
  const reached = Math.max(0, revenue.milli / usual.milli)
  const { done, mark, label } = courseOf(reached, day_gone)
  return (
    <>
      <svg class="course" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="course-whole" width="100" height="8" rx="0" />
        <rect class="course-done" width={done} height="8" />
        <rect class="course-mark" x={Math.min(99.4, mark)} width="0.6" height="8" />
      </svg>
      <p class="course-label tiny quiet" aria-hidden="true">
        <span style={{ left: `${Math.min(93, Math.max(7, mark))}%` }}>{label}</span>
      </p>
      <p class="small quiet">
        <strong class="course-share">
          {reached < 3 ? `${share(reached, 0)} of` : `${count(Math.round(reached))} times`}
        </strong>{' '}
        a typical {name} ({money(usual.milli, currency)}), {elapsed} into the day
      </p>
    </>
  )
}

/** Amounts of at least this many thousandths are compact, so that five counters fit side by side on a phone. */
const COMPACT_FROM = 1_000_000

type Figure = number | null
type CounterProps = { label: string; value: Figure; milli?: Figure; currency?: string | null; tone?: string }
const Counter = ({ label, value, milli = null, currency = null, tone = '' }: CounterProps): JSX.Element => (
  <div class="counter">
    <dt>{label}</dt>
    <dd class={value ? tone : 'quiet'}>{count(value)}</dd>
    {milli !== null && ((value ?? 0) > 0 || milli !== 0) && (
      <dd class="counter-money">
        {Math.abs(milli) < COMPACT_FROM ? money(milli, currency) : shortMoney(milli, currency)}
      </dd>
    )}
  </div>
)

export function RevenueToday({ today }: { today: TodayFigures }): JSX.Element {
  const { revenue, currency, sales, renewals, trials, refunds, cancellations, today_on } = today
  const csvOf = useCsv(today)
  return (
    <section class="card card-pad hero">
      <Label
        metric="revenue"
        files={{
          csv: csvOf('revenue', { from: today_on }),
          others: OTHERS.map(({ name, title }) => ({ title, url: csvOf(name, { from: today_on }) })),
        }}
      >
        Revenue today
      </Label>
      <p class="figure hero-figure">
        <Amount milli={revenue.milli} currency={currency} />
      </p>
      <DayProgress today={today} />
      <dl class="counters">
        <Counter label="Sales" value={sales.count} milli={sales.milli} currency={currency} tone="good" />
        <Counter
          label="Renewals"
          value={renewals.count}
          milli={renewals.milli}
          currency={currency}
          tone="good"
        />
        <Counter label="Trials" value={trials.count} />
        <Counter {...refundCounter(refunds)} currency={currency} />
        <Counter label="Canceled" value={cancellations.count} tone="warn" />
      </dl>
    </section>
  )
}

const Line = ({ label, children }: { label: string; children: ComponentChildren }): JSX.Element => (
  <div class="spread small">
    <dt class="quiet">{label}</dt>
    <dd class="number">{children}</dd>
  </div>
)

export function Yesterday({ today }: { today: TodayFigures }): JSX.Element {
  const { yesterday, currency, yesterday_on } = today
  const csvOf = useCsv(today)
  const day = { from: yesterday_on, to: yesterday_on }
  const { milli: gross = null } = yesterday.gross
  const { milli: proceeds = null } = yesterday.proceeds
  return (
    <section class="card card-pad hero">
      <Label
        metric="revenue"
        files={{
          csv: csvOf('revenue', { ...day, basis: 'proceeds' }),
          others: [{ title: 'Gross', url: csvOf('revenue', { ...day, basis: null }) }],
        }}
        about="What you keep: charges less refunds, taxes and Apple’s commission. Estimated until Apple’s report of the day arrives."
      >
        Proceeds yesterday
      </Label>
      <p class="figure">
        <Amount milli={proceeds} currency={currency} />
      </p>
      <p class="small quiet">{certaintyText(yesterday)}</p>
      <dl class="lines">
        <Line label="Gross, less refunds">{money(gross, currency)}</Line>
        <Line label="Apple’s commission and taxes">
          {money(proceeds === null || gross === null ? null : proceeds - gross, currency)}
        </Line>
      </dl>
    </section>
  )
}

export function Mrr({ today }: { today: TodayFigures }): JSX.Element {
  const { mrr, currency } = today
  const csvOf = useCsv(today)
  return (
    <section class="card card-pad hero">
      <Label metric="mrr" files={{ csv: csvOf('mrr', { from: plusDays(today.today_on, -MRR_DAYS) }) }}>
        MRR
      </Label>
      <p class="figure-row">
        <span class="figure">
          <Amount milli={mrr.milli} currency={currency} />
        </span>
        {mrr.milli !== null && mrr.change_milli !== null && (
          <Delta now={mrr.milli} before={mrr.milli - mrr.change_milli} against="vs. 30 days ago" />
        )}
      </p>
      <p class="small quiet">
        {mrr.change_milli !== null && `${signedMoney(mrr.change_milli, currency)} in 30 days. `}
        {mrr.count === null ? 'No data yet.' : `${plural(mrr.count, 'subscription')}.`}
      </p>
      {mrr.no_period ? <p class="small warn">{noPeriodText(mrr.no_period)}</p> : null}
      <div class="hero-spark">
        <Spark values={mrr.points.map(({ milli }) => milli ?? null)} label="MRR of the last 30 days" />
      </div>
    </section>
  )
}
