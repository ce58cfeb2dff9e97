/** The MRR waterfall as an image, drawn like its table. */
import { axisStartText } from '../charts/axis_start.ts'
import { colour } from '../charts/colours.ts'
import { fontFace, type Pen, type PictureBody } from '../charts/picture.ts'
import { money, shortMoney } from '../words.ts'
import { amountOf, kindOf, type Step, scaleOf } from './waterfall_steps.ts'

const ROW_HEIGHT = 30
const INSET = 6
const TITLES_WIDTH = 190
const BARS_WIDTH = 520
const AMOUNTS_WIDTH = 130
const INKS = { whole: '--hue-6', neutral: '--hue-8', up: '--hue-1', down: '--bad' } as const

/** Where and how wide the gap of a cut bar is, in pixels from the start of the axis. */
const BREAK = { at: 16, width: 5, slant: 6 }

type Place = { left: number; width: number; top: number }

/** Draws the bar of a step, unless its amount is unknown. The bar of a level has a slanted gap where its axis is cut. */
function drawBar(pen: Pen, step: Step, { left, width, top }: Place, isCut: boolean): void {
  if (step.milli === null) return
  pen.fillStyle = colour(INKS[kindOf(step)])
  pen.fillRect(left, top + INSET, width, ROW_HEIGHT - 2 * INSET)
  if (!step.isLevel || !isCut) return
  const x = left + BREAK.at
  pen.fillStyle = colour('--card')
  pen.beginPath()
  pen.moveTo(x, top + ROW_HEIGHT)
  pen.lineTo(x + BREAK.slant, top)
  pen.lineTo(x + BREAK.slant + BREAK.width, top)
  pen.lineTo(x + BREAK.width, top + ROW_HEIGHT)
  pen.fill()
}

export const waterfallBody = (steps: readonly Step[], currency: string | null) => (): PictureBody => {
  const scale = scaleOf(steps)
  const x = (milli: number): number => TITLES_WIDTH + scale.share(milli) * BARS_WIDTH
  const drawStep = (pen: Pen, step: Step, index: number): void => {
    const top = index * ROW_HEIGHT
    const from = step.isLevel ? TITLES_WIDTH : x(Math.min(step.from, step.to))
    const width = Math.max(2, x(Math.max(step.from, step.to)) - from)
    drawBar(pen, step, { left: from, width, top }, scale.isCut)
    pen.fillStyle = colour('--line-strong')
    if (index < steps.length - 1) pen.fillRect(x(step.to), top + ROW_HEIGHT - INSET, 1, 2 * INSET)
    pen.font = fontFace(12, step.isLevel ? 620 : 400)
    pen.fillStyle = colour(step.isLevel ? '--ink' : '--ink-2')
    pen.textAlign = 'left'
    pen.fillText(step.title, 0, top + 19, TITLES_WIDTH - 12)
    pen.textAlign = 'right'
    pen.fillText(
      amountOf(step, currency),
      TITLES_WIDTH + BARS_WIDTH + AMOUNTS_WIDTH,
      top + 19,
      AMOUNTS_WIDTH - 12,
    )
  }
  const draw = (pen: Pen): void => {
    for (const [index, step] of steps.entries()) drawStep(pen, step, index)
    if (!scale.isCut) return
    pen.font = fontFace()
    pen.textAlign = 'left'
    pen.fillStyle = colour('--ink-3')
    pen.fillText(cutAxisNote(scale.low, currency), 0, steps.length * ROW_HEIGHT + 19)
  }
  const height = (steps.length + (scale.isCut ? 1 : 0)) * ROW_HEIGHT
  return { width: TITLES_WIDTH + BARS_WIDTH + AMOUNTS_WIDTH, height, draw }
}

/** The note that the axis does not start at zero. */
export const cutAxisNote = (low: number, currency: string | null): string =>
  axisStartText(low, {
    format: (milli) => money(milli, currency),
    formatShort: (milli) => shortMoney(milli, currency),
  })
