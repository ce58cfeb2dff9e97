/** The words of a digest: a title and a few lines for a lock screen, and a table for e-mail. */
import { dayNumber } from '../../metrics/lineage/calendar.ts'
import type { Text, Words } from '../messages/content.ts'
import { amountText, countryText, countText, flagOf, joined } from '../messages/wording.ts'
import type { Compared, DigestFigures, DigestKind } from './figures.ts'

const DAY_MS = 86_400_000
const days = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  weekday: 'short',
  month: 'short',
  day: 'numeric',
})
const ranges = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric' })
const changes = new Intl.NumberFormat('en-US', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const shares = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 })

/** The text of a digest. `id` is that of the page that a tap opens. */
export function digestText(kind: DigestKind, figures: DigestFigures, id: string): Text {
  return {
    shown: wordsOf(kind, figures, amountsOf(figures)),
    hidden: wordsOf(kind, figures, NO_AMOUNTS),
    path: `/digests/${id}`,
    urgency: 'normal',
  }
}

/** Formats amounts in thousandths; empty for an unknown one, and for all where amounts are hidden. */
type Amounts = Readonly<{ plain: (milli: number | null) => string; signed: (milli: number | null) => string }>

const NO_AMOUNTS: Amounts = { plain: () => '', signed: () => '' }

function amountsOf({ currency }: DigestFigures): Amounts {
  const plain = (milli: number | null): string => (milli === null ? '' : amountText(milli, currency))
  const signed = (milli: number | null): string =>
    milli !== null && milli > 0 ? `+${plain(milli)}` : plain(milli)
  return { plain, signed }
}

function wordsOf(kind: DigestKind, figures: DigestFigures, amounts: Amounts): Words {
  const { revenue, attention, is_provisional, is_behind } = figures
  const picture = kind === 'daily' ? '☀️' : '🗓️'
  return {
    title: `${picture} ${joined(periodText(figures), amounts.plain(revenue.value), changeText(revenue))}`,
    body: [
      moneyLine(figures, amounts),
      subscriberLine(figures),
      joined(bestText(figures, amounts), failedText(figures)),
      attention.length > 0 && `⚠️ ${attentionText(attention)}`,
      (is_provisional || is_behind) && 'Provisional: figures can still change.',
    ]
      .filter((line) => typeof line === 'string' && line !== '')
      .join('\n'),
    fields: fieldsOf(figures, amounts).filter(({ value }) => value !== ''),
  }
}

function periodText({ from_on, until_on }: DigestFigures): string {
  const [from, until] = [dayNumber(from_on) * DAY_MS, dayNumber(until_on) * DAY_MS]
  // Some providers show the thin spaces of a range as boxes.
  return from === until ? days.format(from) : ranges.formatRange(from, until).replaceAll('\u2009', ' ')
}

/** The change against the usual, such as `+12%`; empty without a usual figure above zero. */
function changeText({ value, usual }: Compared): string {
  if (value === null || usual === null || usual <= 0) return ''
  return changes.format(value / usual - 1)
}

const mrrChange = ({ mrr: { milli, before_milli } }: DigestFigures): number | null =>
  milli === null || before_milli === null ? null : milli - before_milli

function moneyLine(figures: DigestFigures, { plain, signed }: Amounts): string {
  const mrr = plain(figures.mrr.milli)
  const change = signed(mrrChange(figures))
  return joined(
    plain(figures.revenue.usual) && `usual ${plain(figures.revenue.usual)}`,
    mrr && `MRR ${mrr}${change && ` (${change})`}`,
  )
}

const subscriberLine = ({ trials, churn }: DigestFigures): string =>
  joined(
    trials.started.value !== null && countText(trials.started.value, 'new trial', 'new trials'),
    trials.converted !== null &&
      trials.converted > 0 &&
      `${countText(trials.converted, 'trial', 'trials')} converted`,
    churn.lost !== null && `${countText(churn.lost, 'subscription', 'subscriptions')} lost`,
  )

const bestText = ({ best_country: best }: DigestFigures, { plain }: Amounts): string =>
  best === null
    ? ''
    : `Best: ${`${flagOf(best.country)} ${countryText(best.country)} ${plain(best.milli)}`.trim()}`

const failedText = ({ failed_payments: { count } }: DigestFigures): string =>
  count === null || count === 0 ? '' : countText(count, 'failed payment', 'failed payments')

const attentionText = ([first, ...others]: DigestFigures['attention']): string =>
  `${first?.title ?? ''}${others.length > 0 ? ` and ${others.length} more` : ''}`

function comparedText(compared: Compared, { plain }: Amounts): string {
  const against = joined(plain(compared.usual) && `usual ${plain(compared.usual)}`, changeText(compared))
  const mark = compared.is_provisional ? ' (provisional)' : ''
  return `${joined(plain(compared.value), against)}${mark}`.trim()
}

function fieldsOf(figures: DigestFigures, amounts: Amounts): { label: string; value: string }[] {
  const { revenue, proceeds, mrr, trials, churn, failed_payments: failed, best_country: best } = figures
  return [
    { label: 'Revenue', value: comparedText(revenue, amounts) },
    { label: 'Proceeds', value: comparedText(proceeds, amounts) },
    { label: 'MRR', value: joined(amounts.plain(mrr.milli), amounts.signed(mrrChange(figures))) },
    ...mrr.movements.map(({ title, milli }) => ({ label: `MRR: ${title}`, value: amounts.signed(milli) })),
    { label: 'New trials', value: trialsText(trials.started) },
    {
      label: 'Trials converted',
      value: trials.ended ? `${trials.converted ?? 0} of ${trials.ended} that ended` : '',
    },
    { label: 'Active trials', value: trials.active === null ? '' : trials.active.toLocaleString('en-US') },
    {
      label: 'Churn',
      value:
        churn.ratio === null
          ? ''
          : `${shares.format(churn.ratio)} (${churn.lost} of ${churn.of} subscriptions)`,
    },
    { label: 'Best country', value: best && joined(countryText(best.country), amounts.plain(best.milli)) },
    {
      label: 'Failed payments',
      value: joined(failedText(figures), amounts.plain(failed.at_risk_milli || null)),
    },
    ...figures.attention.map(({ title }) => ({ label: 'Needs attention', value: title })),
  ].map(({ label, value }) => ({ label, value: value ?? '' }))
}

const trialsText = ({ value, usual }: Compared): string =>
  value === null ? '' : joined(value.toLocaleString('en-US'), usual !== null && `usual ${usual.toFixed(1)}`)
