/** Steps of the MRR waterfall. Each step starts where the previous step ends. */
import { roundStart } from '../charts/axis_start.ts'
import { money, signedMoney } from '../words.ts'

/** `milli`: null if unknown. */
export type Movement = {
  name: string
  title: string
  sentence: string
  milli: number | null
  count: number | null
}
export type Step = {
  name: string
  title: string
  sentence: string
  /** The change, or the level at start and end, in thousandths; null if unknown. Then the step has no bar. */
  milli: number | null
  count: number | null
  from: number
  to: number
  isLevel: boolean
}

type StartAndEnd = { start: number | null; end: number | null; startTitle: string; endTitle: string }

/** The step for the difference between the movements and the change in MRR. */
const REMAINDER = 'not_itemised'
const REMAINDER_TEXTS = { title: 'Not itemized', sentence: 'Change in MRR beyond the known movements.' }

const levelStep = (name: string, title: string, [milli, drawn]: [number | null, number]): Step => ({
  name,
  title,
  sentence: '',
  milli,
  count: null,
  from: 0,
  to: drawn,
  isLevel: true,
})

/**
 * Returns the steps from start to end, without empty movements. Between a known start and a known end the steps add up
 * exactly. The movements from an unknown start are drawn so that they lead to the end.
 */
export function stepsOf(
  movements: readonly Movement[],
  { start, end, startTitle, endTitle }: StartAndEnd,
): Step[] {
  const moved = movements.reduce((sum, { milli }) => sum + (milli ?? 0), 0)
  const drawnStart = start ?? (end === null ? 0 : end - moved)
  const others = movements.filter(({ name }) => name !== REMAINDER)
  const itemised = movements.find(({ name }) => name === REMAINDER)
  const remainder =
    start === null || end === null
      ? (itemised?.milli ?? (itemised ? null : 0))
      : (itemised?.milli ?? 0) + end - start - moved
  const all = [...others, { ...REMAINDER_TEXTS, count: null, ...itemised, name: REMAINDER, milli: remainder }]
  let level = drawnStart
  const steps = all
    .filter(({ milli, count }) => milli !== 0 || (count ?? 0) !== 0)
    .map((movement): Step => {
      const from = level
      level += movement.milli ?? 0
      return { ...movement, from, to: level, isLevel: false }
    })
  return [
    levelStep('start', startTitle, [start, drawnStart]),
    ...steps,
    levelStep('end', endTitle, [end, end ?? level]),
  ]
}

const NEUTRAL = new Set(['fx', 'not_itemised', 'repriced', 'switched_in', 'switched_out', 'opening'])

/** The kind of a step, which decides its color. */
export function kindOf({ isLevel, name, milli }: Step): 'whole' | 'neutral' | 'down' | 'up' {
  if (isLevel) return 'whole'
  if (milli === null || NEUTRAL.has(name)) return 'neutral'
  return milli < 0 ? 'down' : 'up'
}

/** The amount of a movement with its sign, or of a level without a sign. */
export function amountOf({ isLevel, milli }: Step, currency: string | null): string {
  if (milli === null) return 'unknown'
  return isLevel ? money(milli, currency) : signedMoney(milli, currency)
}

/** The axis does not start at zero if the range of levels is less than this fraction of the maximum. */
const CUT_BELOW = 0.6

export type Scale = { low: number; high: number; isCut: boolean; share: (milli: number) => number }

/** The axis from zero, or from just below the lowest level if movements would be too thin. */
export function scaleOf(steps: readonly Step[]): Scale {
  const levels = steps
    .filter(({ milli }) => milli !== null)
    .flatMap(({ from, to, isLevel }) => (isLevel ? [to] : [from, to]))
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
