/** The MRR waterfall as an image, drawn like its table. */
import { colour } from '../charts/colours.ts'
import { type Body, fontFace, type Pen } from '../charts/picture.ts'
import { money } from '../words.ts'
import { amountOf, kindOf, type Step, scaleOf } from './waterfall_steps.ts'

const ROW = 30
const INSET = 6
const TITLES = 190
const BARS = 520
const AMOUNTS = 130
const INKS = { whole: '--hue-6', neutral: '--hue-8', up: '--good', down: '--bad' } as const

export const waterfallBody = (steps: readonly Step[], currency: string | null) => (): Body => {
  const scale = scaleOf(steps)
  const x = (milli: number): number => TITLES + scale.share(milli) * BARS
  const drawStep = (pen: Pen, step: Step, index: number): void => {
    const top = index * ROW
    const from = step.isWhole ? TITLES : x(Math.min(step.from, step.to))
    pen.fillStyle = colour(INKS[kindOf(step)])
    const width = Math.max(2, x(Math.max(step.from, step.to)) - from)
    pen.fillRect(from, top + INSET, width, ROW - 2 * INSET)
    pen.fillStyle = colour('--line-strong')
    if (index < steps.length - 1) pen.fillRect(x(step.to), top + ROW - INSET, 1, 2 * INSET)
    pen.font = fontFace(12, step.isWhole ? 620 : 400)
    pen.fillStyle = colour(step.isWhole ? '--ink' : '--ink-2')
    pen.textAlign = 'left'
    pen.fillText(step.title, 0, top + 19, TITLES - 12)
    pen.textAlign = 'right'
    pen.fillText(amountOf(step, currency), TITLES + BARS + AMOUNTS, top + 19, AMOUNTS - 12)
  }
  const draw = (pen: Pen): void => {
    for (const [index, step] of steps.entries()) drawStep(pen, step, index)
    if (!scale.isCut) return
    pen.font = fontFace()
    pen.textAlign = 'left'
    pen.fillStyle = colour('--ink-3')
    pen.fillText(truncate(scale.low, currency), 0, steps.length * ROW + 19)
  }
  const height = (steps.length + (scale.isCut ? 1 : 0)) * ROW
  return { width: TITLES + BARS + AMOUNTS, height, draw }
}

/** The note that the axis does not start at zero. */
export const truncate = (low: number, currency: string | null): string =>
  `Axis starts at ${money(low, currency)}.`
