/** Sums the money of apps that Apple’s reports contain and that are not connected. No metric contains it. */
import { bound, type Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { ConvertToBase } from '../joined/amount_sources.ts'
import { dayNumber } from '../lineage/calendar.ts'

/**
 * The charges less refunds of an app that is not connected, and their proceeds, in thousandths of the base currency.
 * `not_converted`: charges less refunds without a known rate, in thousandths, by currency.
 */
type UnconnectedMoney = {
  name: string | null
  sku: string | null
  apple_id: number | null
  gross_milli: number
  proceeds_milli: number
  not_converted: Record<string, number>
}

type ReportedApp = Pick<UnconnectedMoney, 'name' | 'sku' | 'apple_id'> & { id: number }
type Sum = {
  reported_app_id: number
  currency: string | null
  gross_milli: number
  proceeds_currency: string | null
  proceeds_milli: number
}
/** Pacific days, both included. */
type DayRange = { from_on: string; until_on: string }

/** The reports that are read in one turn of the event loop. Each has the rows of one day. */
const REPORTS_PER_TURN = 10

export function openUnconnected({ store, convertToBase }: { store: Store; convertToBase: ConvertToBase }) {
  const unconnectedApps = store.prepare<[string], ReportedApp>(
    'select id, name, sku, apple_id from reported_apps where organization_id = ? and app_id is null order by id',
  )
  const reportsOf = store.prepare<[string, string, string], { report_id: number; day_on: string }>(`
    select report_id, day_on from import_days d
    where organization_id = ${bound} and kind = 'sales' and day_on between ${bound} and ${bound}
      and exists (select 1 from report_apps r join reported_apps a on a.id = r.reported_app_id
        where r.report_id = d.report_id and a.app_id is null)
    order by day_on`)
  const sumsIn = store.prepare<[number], Sum>(`
    select reported_app_id, currency, sum(gross_milli) as gross_milli, proceeds_currency,
      sum(proceeds_milli) as proceeds_milli
    from sales_days where report_id = ? and reported_app_id in (select id from reported_apps where app_id is null)
    group by reported_app_id, currency, proceeds_currency`)

  /** The apps of an organization that are not connected and had money in a range of days, the most first. */
  async function read(
    organization_id: string,
    base: string,
    { from_on, until_on }: DayRange,
  ): Promise<UnconnectedMoney[]> {
    const money = new Map(
      unconnectedApps
        .all(organization_id)
        .map(
          ({ id, ...app }) => [id, { ...app, gross_milli: 0, proceeds_milli: 0, not_converted: {} }] as const,
        ),
    ) as Map<number, UnconnectedMoney>
    for (const [index, { report_id, day_on }] of reportsOf
      .all(organization_id, from_on, until_on)
      .entries()) {
      if (index % REPORTS_PER_TURN === 0) await yieldToEventLoop()
      for (const sum of sumsIn.all(report_id)) {
        const own = money.get(sum.reported_app_id)
        if (own)
          addSum(own, sum, (milli, currency) => convertToBase(base, milli, currency, dayNumber(day_on)))
      }
    }
    return [...money.values()].filter(hasMoney).sort((a, b) => b.gross_milli - a.gross_milli)
  }

  return read
}

/** Adds a day’s sum to the money of its app. Amounts of zero may have no currency. */
function addSum(
  own: UnconnectedMoney,
  { currency, gross_milli, proceeds_currency, proceeds_milli }: Sum,
  toBase: (milli: number, currency: string) => number | null,
): void {
  const gross = toBase(gross_milli, currency ?? '')
  own.gross_milli += gross ?? 0
  own.proceeds_milli += toBase(proceeds_milli, proceeds_currency ?? '') ?? 0
  const { not_converted } = own
  if (gross === null) not_converted[currency ?? ''] = (not_converted[currency ?? ''] ?? 0) + gross_milli
}

const hasMoney = ({ gross_milli, proceeds_milli, not_converted }: UnconnectedMoney): boolean =>
  gross_milli !== 0 || proceeds_milli !== 0 || Object.keys(not_converted).length > 0
