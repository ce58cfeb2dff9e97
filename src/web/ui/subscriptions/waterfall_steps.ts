/** Steps of the MRR waterfall. Each starts where the previous one ends. */
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
  isWhole: boolean
}

type Ends = { start: number; end: number; startTitle: string; endTitle: string }

/** The difference between the movements and the change in MRR. Never dropped. */
const REST = 'not_itemised'
const REST_WORDS = { title: 'Not itemized', sentence: 'Change in MRR beyond the known movements.' }

const whole = (name: string, title: string, milli: number): Step => ({
  name,
  title,
  sentence: '',
  milli,
  count: null,
  from: 0,
  to: milli,
  isWhole: true,
})

/** The steps from start to end, without empty movements. They add up exactly. */
export function stepsOf(movements: readonly Movement[], { start, end, startTitle, endTitle }: Ends): Step[] {
  const known = movements.reduce((sum, { milli }) => sum + milli, start)
  const rest = end - known
  const others = movements.filter(({ name }) => name !== REST)
  const itemised = movements.find(({ name }) => name === REST)
  const left = (itemised?.milli ?? 0) + rest
  const all = [...others, { ...REST_WORDS, count: null, ...itemised, name: REST, milli: left }]
  let level = start
  const steps = all
    .filter(({ milli, count }) => milli !== 0 || (count ?? 0) !== 0)
    .map((movement): Step => {
      const from = level
      level += movement.milli
      return { ...movement, from, to: level, isWhole: false }
    })
  return [whole('start', startTitle, start), ...steps, whole('end', endTitle, end)]
}

const NEUTRAL = new Set(['fx', 'not_itemised', 'repriced', 'switched_in', 'switched_out', 'opening'])

/** The kind of a step, which decides its color. */
export function kindOf({ isWhole, name, milli }: Step): 'whole' | 'neutral' | 'down' | 'up' {
  if (isWhole) return 'whole'
  if (NEUTRAL.has(name)) return 'neutral'
  return milli < 0 ? 'down' : 'up'
}

/** The amount with its sign; levels have none. */
export const amountOf = ({ isWhole, milli }: Step, currency: string | null): string =>
  isWhole ? money(milli, currency) : signedMoney(milli, currency)

/** The axis is cut if the range of levels is less than this share of the maximum. */
const SQUEEZED = 0.6

export type Scale = { low: number; high: number; isCut: boolean; share: (milli: number) => number }

/** The axis from zero, or from just below the lowest level if movements would be too thin. */
export function scaleOf(steps: readonly Step[]): Scale {
  const levels = steps.flatMap(({ from, to, isWhole }) => (isWhole ? [to] : [from, to]))
  const least = Math.min(...levels)
  const high = Math.max(0, ...levels)
  const span = high - least
  const isCut = least > 0 && span > 0 && span < high * SQUEEZED
  const low = isCut ? least - span * 0.35 : Math.min(0, least)
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
