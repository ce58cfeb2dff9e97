/** The retention triangle as an image, drawn like its table. */
import { colour } from '../charts/colours.ts'
import { fontFace, type Pen, type PictureBody } from '../charts/picture.ts'
import { cohortTitle, count, type Grain, share } from '../words.ts'
import { type Cell, MAX_COLUMNS, type Triangle, type TriangleRow } from './triangle.ts'

const ROW_HEIGHT = 30
const TITLES_WIDTH = 150
const CELL_WIDTH = 48
const GAP = 1
/** Minimum width, so that the subtitle fits. */
const MIN_WIDTH = 740
const HATCH_DISTANCE = 7

/** Cell opacity, as in the table. */
const opacityOf = (ratio: number): number => 0.04 + ratio * 0.44

export const triangleBody = (triangle: Triangle, grain: Grain) => (): PictureBody => {
  const columns = Math.min(MAX_COLUMNS, triangle.columns)
  const rows = [triangle.all, ...triangle.rows]
  const draw = (pen: Pen): void => {
    drawHeads(pen, columns)
    for (const [index, row] of rows.entries()) {
      const title = index === 0 ? 'All' : cohortTitle(row.cohort, grain)
      drawRow(pen, { row, title, columns, top: (index + 1) * ROW_HEIGHT, isAll: index === 0 })
    }
  }
  return {
    width: Math.max(MIN_WIDTH, TITLES_WIDTH + columns * CELL_WIDTH),
    height: (rows.length + 1) * ROW_HEIGHT,
    draw,
  }
}

/** The column headings. */
export const headsOf = (columns: number): string[] =>
  Array.from({ length: columns }, (_, k) => (k === 0 ? 'Start' : count(k)))

function drawHeads(pen: Pen, columns: number): void {
  pen.font = fontFace(12, 560)
  pen.fillStyle = colour('--ink-3')
  pen.fillText('First payment', 0, 19)
  pen.textAlign = 'center'
  for (const [k, head] of headsOf(columns).entries())
    pen.fillText(head, TITLES_WIDTH + (k + 0.5) * CELL_WIDTH, 19)
}

type DrawnRow = { row: TriangleRow; title: string; columns: number; top: number; isAll: boolean }

function drawRow(pen: Pen, { row, title, columns, top, isAll }: DrawnRow): void {
  pen.font = fontFace(12, isAll ? 620 : 400)
  pen.fillStyle = colour('--ink')
  pen.textAlign = 'left'
  pen.fillText(title, 0, top + 19, TITLES_WIDTH - 60)
  pen.textAlign = 'center'
  for (const [k, cell] of row.cells.slice(0, columns).entries())
    drawCell(pen, cell, TITLES_WIDTH + k * CELL_WIDTH, top)
  pen.textAlign = 'right'
  pen.fillStyle = colour('--ink-3')
  pen.fillText(count(row.size), TITLES_WIDTH - 12, top + 19, 48)
}

function drawCell(pen: Pen, cell: Cell, left: number, top: number): void {
  if (cell.share === null) return
  pen.globalAlpha = opacityOf(cell.share)
  pen.fillStyle = colour('--hue-1')
  pen.fillRect(left + GAP, top + GAP, CELL_WIDTH - 2 * GAP, ROW_HEIGHT - 2 * GAP)
  if (!cell.complete) hatch(pen, left, top)
  pen.globalAlpha = 1
  pen.fillStyle = colour('--ink')
  pen.fillText(share(cell.share, 0), left + CELL_WIDTH / 2, top + 19)
}

/** Draws hatching in the background color across a cell. */
function hatch(pen: Pen, left: number, top: number): void {
  pen.save()
  pen.beginPath()
  pen.rect(left, top, CELL_WIDTH, ROW_HEIGHT)
  pen.clip()
  pen.globalAlpha = 0.62
  pen.strokeStyle = colour('--card')
  pen.lineWidth = 3
  pen.beginPath()
  for (let x = -ROW_HEIGHT; x < CELL_WIDTH; x += HATCH_DISTANCE * Math.SQRT2) {
    pen.moveTo(left + x, top + ROW_HEIGHT)
    pen.lineTo(left + x + ROW_HEIGHT, top)
  }
  pen.stroke()
  pen.restore()
}
