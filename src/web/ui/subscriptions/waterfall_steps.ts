/** Steps of the MRR waterfall. Each step starts where the previous step ends. */
import { roundStart } from '../charts/axis_start.ts'
import { money, signedMoney } from '../words.ts'

export type Movement = { name: string; title: string; sentence: string; milli: number; count: number | null }
export type Step = {
  name: string
  title: string
  sentence: string
  /** The change, or the level at start and end. Thousandths. */
  milli: number
  count: number | null
  from: number
  to: number
  isLevel: boolean
}

type StartAndEnd = { start: number; end: number; startTitle: string; endTitle: string }

/** The step for the difference between the movements and the change in MRR. It is always included. */
const REMAINDER = 'not_itemised'
const REMAINDER_TEXTS = { title: 'Not itemized', sentence: 'Change in MRR beyond the known movements.' }

const levelStep = (name: string, title: string, milli: number): Step => ({
  name,
  title,
  sentence: '',
  milli,
  count: null,
  from: 0,
  to: milli,
  isLevel: true,
})

/** Returns the steps from start to end, without empty movements. The steps add up exactly to the end. */
export function stepsOf(
  movements: readonly Movement[],
  { start, end, startTitle, endTitle }: StartAndEnd,
): Step[] {
  const known = movements.reduce((sum, { milli }) => sum + milli, start)
  const difference = end - known
  const others = movements.filter(({ name }) => name !== REMAINDER)
  const itemised = movements.find(({ name }) => name === REMAINDER)
  const remainder = (itemised?.milli ?? 0) + difference
  const all = [...others, { ...REMAINDER_TEXTS, count: null, ...itemised, name: REMAINDER, milli: remainder }]
  let level = start
  const steps = all
    .filter(({ milli, count }) => milli !== 0 || (count ?? 0) !== 0)
    .map((movement): Step => {
      const from = level
      level += movement.milli
      return { ...movement, from, to: level, isLevel: false }
    })
  return [levelStep('start', startTitle, start), ...steps, levelStep('end', endTitle, end)]
}

const NEUTRAL = new Set(['fx', 'not_itemised', 'repriced', 'switched_in', 'switched_out', 'opening'])

/** The kind of a step, which decides its color. */
export function kindOf({ isLevel, name, milli }: Step): 'whole' | 'neutral' | 'down' | 'up' {
  if (isLevel) return 'whole'
  if (NEUTRAL.has(name)) return 'neutral'
  return milli < 0 ? 'down' : 'up'
}

/** The amount of a movement with its sign, or of a level without a sign. */
export const amountOf = ({ isLevel, milli }: Step, currency: string | null): string =>
  isLevel ? money(milli, currency) : signedMoney(milli, currency)

/** The axis does not start at zero if the range of levels is less than this fraction of the maximum. */
const CUT_BELOW = 0.6

export type Scale = { low: number; high: number; isCut: boolean; share: (milli: number) => number }

/** The axis from zero, or from just below the lowest level if movements would be too thin. */
export function scaleOf(steps: readonly Step[]): Scale {
  const levels = steps.flatMap(({ from, to, isLevel }) => (isLevel ? [to] : [from, to]))
  const least = Math.min(...levels)
  const high = Math.max(0, ...levels)
  const span = high - least
  const isCut = least > 0 && span > 0 && span < high * CUT_BELOW
  const low = isCut ? roundStart(least - span * 0.25, span) : Math.min(0, least)
  const cut = Math.max(0, low)
  const from = isCut ? cut : low
  const width = high - from || 1
  return {
    low: from,
    high,
    isCut: isCut && from > 0,
    share: (milli) => Math.max(0, Math.min(1, (milli - from) / width)),
  }
}
