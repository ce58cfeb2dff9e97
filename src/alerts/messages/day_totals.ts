/** Reads the sales of the day so far, as the dashboard shows them. */
import * as v from 'valibot'
import type { Apps } from '../../apps/apps.ts'
import type { Organization } from '../../apps/organizations.ts'
import { dayText } from '../../metrics/lineage/calendar.ts'
import type { SeriesReader } from '../../metrics/series/series.ts'
import { resolveRequest, SeriesParams } from '../../metrics/series/series_request.ts'

/** The revenue of a day in thousandths of a currency, and the number of charges. */
export type DayTotal = Readonly<{ milli: number; currency: string; sales: number }>

type Deps = { series: SeriesReader; apps: Pick<Apps, 'list'> }

export type DayTotals = ReturnType<typeof openDayTotals>

/** Opens the reading. */
export function openDayTotals({ series, apps }: Deps) {
  const running = new Map<string, Promise<Read | null>>()

  /**
   * The sales of an organization on the day of an instant, in production. Null if that day is over, while figures are being
   * computed, and if an amount of the day has no exchange rate yet.
   */
  async function dayOf(organization: Organization, at: number): Promise<DayTotal | null> {
    // The messages of a summary share one reading.
    const reading = running.get(organization.id) ?? read(organization)
    running.set(organization.id, reading)
    const found = await reading.finally(() => running.delete(organization.id))
    return found?.isToday(at) ? found.total : null
  }

  type Read = { total: DayTotal; isToday: (at: number) => boolean }

  async function read(organization: Organization): Promise<Read | null> {
    const own = apps.list().filter(({ organization_id }) => organization_id === organization.id)
    const scope = { organization, apps: own, environment: 'production', zone: 'own', metrics: null } as const
    return series.withSnapshot(scope, async (one) => {
      const today = series.todayOf(one)
      const on = dayText(today)
      const query = v.parse(SeriesParams, { from: on, to: on, interval: 'day' })
      const answer = await series.answer(one, resolveRequest('revenue', query, today))
      const point = answer.series.find(({ part, value }) => part === null && value === null)?.points.at(-1)
      const { milli = null, count = null, not_converted = [] } = point ?? {}
      const isWhole = answer.behind === null && answer.currency === organization.currency
      if (!isWhole || not_converted.length > 0 || milli === null || count === null) return null
      const calendar = series.calendarOf(one)
      return {
        total: { milli, currency: organization.currency, sales: count },
        isToday: (at) => calendar.dayOf(at) === today,
      }
    })
  }

  return { dayOf }
}
