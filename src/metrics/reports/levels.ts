/** Computes levels from the rows of Apple’s SUBSCRIPTION report. */
import { parsePeriod } from '../../apps/periods.ts'
import type { Factors } from '../lineage/months.ts'
import { monthlyMilli } from '../lineage/months.ts'
import type { ReportCell } from './cells.ts'
import { storefrontOf } from './countries.ts'

/** The columns of subscription_days that `levelCells` reads. */
export type LevelRow = {
  subscription_apple_id: string
  duration: string
  offer_name: string | null
  price_milli: number | null
  currency: string | null
  proceeds_milli: number | null
  proceeds_currency: string | null
  country: string
  active_standard: number
  intro_free_trial: number
  intro_pay_up_front: number
  intro_pay_as_you_go: number
  promotional_pay_up_front: number
  promotional_pay_as_you_go: number
  offer_code_pay_up_front: number
  offer_code_pay_as_you_go: number
  win_back_pay_up_front: number
  win_back_pay_as_you_go: number
  billing_retry: number
  grace_period: number
}

/** Returns the length of an upfront offer as an ISO 8601 duration; null if the length is unknown. */
export type OfferLengthOf = (number: string, offer_name: string | null) => string | null

/**
 * The cells of a row. Paying customers (standard, paid introductory and paid offers) have a monthly value, computed from
 * the standard duration or, for an offer paid upfront, from the offer’s length. As in the ledger, customers in a grace
 * period are included and customers in billing retry are not.
 */
export function levelCells(row: LevelRow, lengthOf: OfferLengthOf, factors: Factors): ReportCell[] {
  const standard = parsePeriod(row.duration) ?? ''
  const upfrontLength = () => lengthOf(row.subscription_apple_id, row.offer_name) ?? standard
  const paid = (offer: ReportCell['offer'], count: number, period = standard): ReportCell[] => {
    const monthlyAmount = (milli: number | null, currency: string | null) => ({
      currency: currency ?? '',
      milli: milli === null || currency === null ? 0 : (monthlyMilli(milli, period, factors) ?? 0) * count,
    })
    const common = { ...dimensions(row, period), offer, count }
    const gross = monthlyAmount(row.price_milli, row.currency)
    const { proceeds_milli, proceeds_currency } = row
    const hasProceeds = proceeds_milli === 0 || (proceeds_milli !== null && proceeds_currency !== null)
    return [
      { ...common, measure: 'mrr', ...gross },
      hasProceeds
        ? { ...common, measure: 'mrr.proceeds', ...monthlyAmount(proceeds_milli, proceeds_currency) }
        : { ...common, measure: 'mrr.unshared', ...gross },
    ]
  }
  const countCell = (
    measure: ReportCell['measure'],
    offer: ReportCell['offer'],
    count: number,
  ): ReportCell => ({ ...dimensions(row, standard), measure, offer, currency: '', milli: 0, count })
  const { promotional_pay_up_front, offer_code_pay_up_front, win_back_pay_up_front } = row
  const { promotional_pay_as_you_go, offer_code_pay_as_you_go, win_back_pay_as_you_go } = row
  const offersUpFront = promotional_pay_up_front + offer_code_pay_up_front + win_back_pay_up_front
  const offersAsYouGo = promotional_pay_as_you_go + offer_code_pay_as_you_go + win_back_pay_as_you_go
  return [
    ...paid('paid', row.active_standard),
    ...paid('intro', row.intro_pay_as_you_go),
    ...paid('intro', row.intro_pay_up_front, row.intro_pay_up_front === 0 ? standard : upfrontLength()),
    ...paid('offer', offersAsYouGo),
    ...paid('offer', offersUpFront, offersUpFront === 0 ? standard : upfrontLength()),
    countCell('trials', 'trial', row.intro_free_trial),
    ...graceCells(row, paid, countCell, () => (row.offer_name === null ? standard : upfrontLength())),
    countCell('billing_retry', row.offer_name === null ? 'paid' : 'offer', row.billing_retry),
  ]
}

function graceCells(
  { grace_period, price_milli, offer_name }: LevelRow,
  paid: (offer: ReportCell['offer'], count: number, period: string) => ReportCell[],
  countCell: (measure: ReportCell['measure'], offer: ReportCell['offer'], count: number) => ReportCell,
  period: () => string,
): ReportCell[] {
  if (grace_period === 0) return []
  const offer = offer_name === null ? 'paid' : 'offer'
  if (price_milli !== 0)
    return [...paid(offer, grace_period, period()), countCell('grace', offer, grace_period)]
  const isTrial = offer_name === null
  const grace = countCell('grace', isTrial ? 'trial' : 'free_offer', grace_period)
  return isTrial ? [countCell('trials', 'trial', grace_period), grace] : [grace]
}

const dimensions = ({ subscription_apple_id, country }: LevelRow, period: string) => ({
  number: subscription_apple_id,
  storefront: storefrontOf(country),
  period,
})
