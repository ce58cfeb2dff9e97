/** What we compute: on which Pacific days the ledger has the level that Apple's reports have. */
import type { DayNumber } from '../lineage/calendar.ts'
import { type Amount, NOTHING, plus } from '../reports/lines.ts'
import type { Generation } from '../upkeep/generations.ts'
import { dayIn, EMPTY, type Level, standingIn } from './days.ts'
import type { Sources } from './sources.ts'

const PARTS_UNLIKE = 0.005

/** `shown`: the generation whose sums are compared. */
type Ask = { shown: Generation; app_id: string; from: DayNumber; until: DayNumber }

export type Alike = ReturnType<typeof openAlike>

export function openAlike(sources: Sources) {
  /**
   * Whether the ledger's level of an app at the end of each of some Pacific days is that of the day's report. In each
   * currency it is taken by the rate that the report's own level has: the two convert by the rates of different days, and
   * what was paid a year ago differs by that alone.
   */
  async function on(ask: Ask, level: Level): Promise<(day: DayNumber) => boolean> {
    const whole = { ...ask, filters: {}, split: null, currency: null } as const
    const place = { environment: 'production', zone: 'pacific', has_before: true } as const
    const inBase = await sources.ledger({ ...whole, ...place, split: 'currency' }, { [level]: 1 })
    const nativeIn = async (currency: string) =>
      standingIn(await sources.ledger({ ...whole, ...place, currency }, { [level]: 1 }))('')
    const theirs = sources.reports({ ...whole, split: 'currency' }, level)
    const natives = await Promise.all(
      [...inBase.keys()].map(async (currency) => ({
        own: standingIn(inBase)(currency),
        native: await nativeIn(currency),
        theirs: dayIn(theirs)(currency),
        told: dayIn(currency === '' ? EMPTY : sources.reports({ ...whole, currency }, level))(''),
      })),
    )
    const reported = dayIn(sources.reports(whole, level))('')
    return (day) => {
      let sum = NOTHING
      for (const { own, native, theirs, told } of natives) {
        const { milli, count } = own(day)
        const rated = told(day).milli
        sum = plus(sum, {
          milli: rated === 0 ? milli : (native(day).milli * theirs(day).milli) / rated,
          count,
        })
      }
      return isAlike(reported(day), sum)
    }
  }

  return { on }
}

/** Money and count within half a percent, above or below: a change over draws no cliff. */
function isAlike(reported: Amount, own: Amount): boolean {
  const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= Math.abs(a) * PARTS_UNLIKE
  return isNear(reported.milli, own.milli) && isNear(reported.count, own.count)
}
