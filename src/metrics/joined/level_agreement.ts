/** Finds the Pacific days on which the ledger’s level agrees with the level in Apple’s reports. */
import type { DayNumber } from '../lineage/calendar.ts'
import { type Amount, NO_AMOUNT, plus } from '../reports/daily_amounts.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { AmountSources } from './amount_sources.ts'
import { cumulativeIn, dayIn, type LevelMeasure, NO_AMOUNTS } from './days.ts'

const TOLERANCE = 0.005

/** `shown`: the generation whose sums are compared. */
type AgreementQuery = { shown: Generation; app_id: string; from: DayNumber; until: DayNumber }

export type LevelAgreement = ReturnType<typeof openLevelAgreement>

export function openLevelAgreement(sources: AmountSources) {
  /**
   * Compares an app’s level in the ledger with the report of each Pacific day, at the end of the day. Each currency of the
   * ledger is converted at the report’s rate. Otherwise amounts would differ only because ledger and reports convert at
   * rates of different days.
   */
  async function compareDays(
    query: AgreementQuery,
    level: LevelMeasure,
  ): Promise<(day: DayNumber) => boolean> {
    const baseQuery = { ...query, filters: {}, split: null, currency: null } as const
    const ledgerOptions = { environment: 'production', zone: 'pacific', has_before: true } as const
    const inBase = await sources.ledger({ ...baseQuery, ...ledgerOptions, split: 'currency' }, { [level]: 1 })
    const nativeIn = async (currency: string) =>
      cumulativeIn(await sources.ledger({ ...baseQuery, ...ledgerOptions, currency }, { [level]: 1 }))('')
    const reportedInBase = sources.reports({ ...baseQuery, split: 'currency' }, level)
    const byCurrency = await Promise.all(
      [...inBase.keys()].map(async (currency) => ({
        own: cumulativeIn(inBase)(currency),
        native: await nativeIn(currency),
        reportedInBase: dayIn(reportedInBase)(currency),
        reportedNative: dayIn(
          currency === '' ? NO_AMOUNTS : sources.reports({ ...baseQuery, currency }, level),
        )(''),
      })),
    )
    const reported = dayIn(sources.reports(baseQuery, level))('')
    return (day) => {
      let sum = NO_AMOUNT
      for (const { own, native, reportedInBase, reportedNative } of byCurrency) {
        const { milli, count } = own(day)
        const reported_native_milli = reportedNative(day).milli
        sum = plus(sum, {
          milli:
            reported_native_milli === 0
              ? milli
              : (native(day).milli * reportedInBase(day).milli) / reported_native_milli,
          count,
        })
      }
      return isWithinToleranceOf(reported(day), sum)
    }
  }

  return { compareDays }
}

/** Whether money and count agree within 0.5 %, so that the cutover causes no visible jump. */
function isWithinToleranceOf(reported: Amount, own: Amount): boolean {
  const isWithinTolerance = (a: number, b: number): boolean => Math.abs(a - b) <= Math.abs(a) * TOLERANCE
  return isWithinTolerance(reported.milli, own.milli) && isWithinTolerance(reported.count, own.count)
}
