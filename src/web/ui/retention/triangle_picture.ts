/** The retention triangle as an image, drawn like its table. */
import { colour } from '../charts/colours.ts'
import { type Body, fontFace, type Pen } from '../charts/picture.ts'
import { cohortTitle, count, type Grain, share } from '../words.ts'
import { type Cell, COLUMNS_MOST, type Triangle, type TriangleRow } from './triangle.ts'

const ROW = 30
const TITLES = 150
const CELL = 48
const GAP = 1
/** Minimum width, so that the subtitle fits. */
const WIDTH_LEAST = 740
const HATCH = 7

/** Cell opacity, as in the table. */
const strength = (ratio: number): number => 0.04 + ratio * 0.44

export const triangleBody = (triangle: Triangle, grain: Grain) => (): Body => {
  const columns = Math.min(COLUMNS_MOST, triangle.columns)
  const rows = [triangle.all, ...triangle.rows]
  const draw = (pen: Pen): void => {
    drawHeads(pen, columns)
    for (const [index, row] of rows.entries()) {
      const title = index === 0 ? 'All' : cohortTitle(row.cohort, grain)
      drawRow(pen, { row, title, columns, top: (index + 1) * ROW, isAll: index === 0 })
    }
  }
  return { width: Math.max(WIDTH_LEAST, TITLES + columns * CELL), height: (rows.length + 1) * ROW, draw }
}

/** The column headings. */
export const headsOf = (columns: number): string[] =>
  Array.from({ length: columns }, (_, k) => (k === 0 ? 'Start' : count(k)))

function drawHeads(pen: Pen, columns: number): void {
  pen.font = fontFace(12, 560)
  pen.fillStyle = colour('--ink-3')
  pen.fillText('First payment', 0, 19)
  pen.textAlign = 'center'
  for (const [k, head] of headsOf(columns).entries()) pen.fillText(head, TITLES + (k + 0.5) * CELL, 19)
}

type Place = { row: TriangleRow; title: string; columns: number; top: number; isAll: boolean }

function drawRow(pen: Pen, { row, title, columns, top, isAll }: Place): void {
  pen.font = fontFace(12, isAll ? 620 : 400)
  pen.fillStyle = colour('--ink')
  pen.textAlign = 'left'
  pen.fillText(title, 0, top + 19, TITLES - 60)
  pen.textAlign = 'center'
  for (const [k, cell] of row.cells.slice(0, columns).entries()) drawCell(pen, cell, TITLES + k * CELL, top)
  pen.textAlign = 'right'
  pen.fillStyle = colour('--ink-3')
  pen.fillText(count(row.size), TITLES - 12, top + 19, 48)
}

function drawCell(pen: Pen, cell: Cell, left: number, top: number): void {
  if (cell.share === null) return
  pen.globalAlpha = strength(cell.share)
  pen.fillStyle = colour('--hue-1')
  pen.fillRect(left + GAP, top + GAP, CELL - 2 * GAP, ROW - 2 * GAP)
  if (!cell.complete) hatch(pen, left, top)
  pen.globalAlpha = 1
  pen.fillStyle = colour('--ink')
  pen.fillText(share(cell.share, 0), left + CELL / 2, top + 19)
}

/** Draws hatching in the background color across a cell. */
function hatch(pen: Pen, left: number, top: number): void {
  pen.save()
  pen.beginPath()
  pen.rect(left, top, CELL, ROW)
  pen.clip()
  pen.globalAlpha = 0.62
  pen.strokeStyle = colour('--card')
  pen.lineWidth = 3
  pen.beginPath()
  for (let x = -ROW; x < CELL; x += HATCH * Math.SQRT2) {
    pen.moveTo(left + x, top + ROW)
    pen.lineTo(left + x + ROW, top)
  }
  pen.stroke()
  pen.restore()
}
