/** Rules about figures, again and plainly: what they report at some looks at the figures of the API. */
import type { TestApp } from '../helpers.ts'
import { isLong } from '../random.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
/** Days before today that are looked at: more than the simulated past. */
const DAYS = isLong ? 500 : 100
const MILESTONES = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000]

/** The figures at an instant. `days` end with today; `mrr` and `revenue` are in thousandths of the base currency. */
export type Look = {
  at: number
  first_on: string
  mrr: number
  /** `refunds`: null on a day that nobody observed. */
  days: { on: string; revenue: number | null; refunds: number | null }[]
}

type Answer = {
  first_on: string
  series: { part: string | null; points: { on: string; milli?: number | null; count?: number | null }[] }[]
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Reads the figures of now. */
export async function lookAt(app: TestApp): Promise<Look> {
  const owner = await app.signIn()
  const at = app.clock()
  const read = async (name: string): Promise<Answer> => {
    const range = `from=${dayOf(at - DAYS * DAY)}&to=${dayOf(at)}`
    const answer = await app.request(`/api/v1/metrics/${name}?${range}`, { headers: owner })
    return (await answer.json()) as Answer
  }
  const pointsOf = ({ series }: Answer, part: string | null) =>
    series.find((one) => one.part === part)?.points
  const [revenue, mrr] = [await read('revenue'), await read('mrr')]
  const refunds = pointsOf(revenue, 'refunds') ?? []
  return {
    at,
    first_on: revenue.first_on,
    mrr: pointsOf(mrr, null)?.at(-1)?.milli ?? 0,
    days: (pointsOf(revenue, null) ?? []).map(({ on, milli = 0 }, index) => ({
      on,
      revenue: milli,
      refunds: milli === null ? null : (refunds[index]?.count ?? 0),
    })),
  }
}

const todayIn = ({ days }: Look) => days.at(-1) ?? { on: '', revenue: 0, refunds: 0 }

/** The days that were the best so far at some look. */
export const recordDays = (looks: readonly Look[]): string[] =>
  daysOf(
    looks.filter((look) => {
      const isOld = Date.parse(todayIn(look).on) - Date.parse(look.first_on) >= 60 * DAY
      return (
        isOld && look.days.slice(0, -1).every(({ revenue }) => (revenue ?? 0) < (todayIn(look).revenue ?? 0))
      )
    }),
  )

/** The days with at least five refunds, and more than three times the mean of 28 days. */
export const spikeDays = (looks: readonly Look[]): string[] =>
  daysOf(
    looks.filter((look) => {
      const before = look.days.slice(-29, -1).flatMap(({ refunds }) => refunds ?? [])
      const refunds = todayIn(look).refunds ?? 0
      const sum = before.reduce((all, one) => all + one, 0)
      return refunds >= 5 && before.length > 0 && refunds * before.length > 3 * sum
    }),
  )

const daysOf = (looks: readonly Look[]): string[] =>
  [...new Set(looks.map((look) => todayIn(look).on))].toSorted()

/** The milestones that two looks at least an hour apart show, and every look between them. */
export function milestones([first, ...looks]: readonly Look[]): number[] {
  const levelOf = ({ mrr }: Look): number => MILESTONES.findLast((one) => one * 1_000 <= mrr) ?? 0
  const found: number[] = []
  let passed = first === undefined ? 0 : levelOf(first)
  let seen: { level: number; at: number } | null = null
  for (const look of looks) {
    const level = levelOf(look)
    if (level <= passed) seen = null
    // A lower level begins again.
    else if (seen === null || level < seen.level) seen = { level, at: look.at }
    else if (look.at - seen.at >= HOUR) {
      found.push(seen.level)
      passed = seen.level
      seen = null
    }
  }
  return found
}
