/** Exports a chart as a PNG: title, chart and legend on the page's background. */
import { colour, hueColour } from './colours.ts'
import type { Graph } from './graph.ts'

const MARGIN = 24
const HEAD_HEIGHT = 60
const ROW_HEIGHT = 22
const SWATCH_SIZE = 10

export type Pen = CanvasRenderingContext2D
/** The content below the title: its size in CSS pixels, and a function that draws it from its upper left corner. */
export type PictureBody = { width: number; height: number; draw: (pen: Pen) => void }
type PictureText = { title: string; subtitle: string; name: string }
type LegendEntry = { label: string; ink: string; x: number; y: number }

/** Read once, because reading it recomputes styles. */
let fontFamily: string | undefined

/** The page's font as a CSS font value; `size` is in pixels. */
export function fontFace(size = 12, weight = 400): string {
  fontFamily ??= getComputedStyle(document.body).fontFamily
  return `${weight} ${size}px ${fontFamily}`
}

/** Lays out the legend entries in rows. */
function layOutLegend(graph: Graph, pen: Pen, width: number): { keys: LegendEntry[]; rows: number } {
  let x = 0
  let row = 0
  const keys = graph.lines.map((line) => {
    const label = `${line.title} ${graph.format(graph.figureOf(line))}`
    const entryWidth = SWATCH_SIZE + 6 + pen.measureText(label).width + 18
    if (x > 0 && x + entryWidth > width) {
      x = 0
      row += 1
    }
    const key = { label, ink: hueColour(line.hue), x, y: row * ROW_HEIGHT }
    x += entryWidth
    return key
  })
  return { keys, rows: row + 1 }
}

/** A chart over time with its legend. */
export const chartBody =
  (canvas: HTMLCanvasElement, graph: Graph) =>
  (measure: Pen): PictureBody => {
    const width = canvas.width / devicePixelRatio
    const height = canvas.height / devicePixelRatio
    const { keys, rows } = layOutLegend(graph, measure, width)
    const legendHeight = graph.lines.length > 1 ? rows * ROW_HEIGHT + 8 : 0
    const draw = (pen: Pen): void => {
      pen.drawImage(canvas, 0, 0, width, height)
      if (legendHeight === 0) return
      for (const { label, ink, x, y } of keys) {
        const top = height + 8 + y
        pen.fillStyle = ink
        pen.fillRect(x, top + 1, SWATCH_SIZE, SWATCH_SIZE)
        pen.fillStyle = colour('--ink-2')
        pen.fillText(label, x + SWATCH_SIZE + 6, top + SWATCH_SIZE)
      }
    }
    return { width, height: height + legendHeight, draw }
  }

function drawPicture(
  { title, subtitle }: PictureText,
  bodyOf: (measure: Pen) => PictureBody,
): HTMLCanvasElement | null {
  const canvas = document.createElement('canvas')
  const pen = canvas.getContext('2d')
  if (!pen) return null
  pen.font = fontFace()
  const { width, height, draw } = bodyOf(pen)
  const scale = devicePixelRatio
  canvas.width = (width + 2 * MARGIN) * scale
  canvas.height = (height + HEAD_HEIGHT + 2 * MARGIN) * scale
  pen.scale(scale, scale)
  pen.fillStyle = colour('--card')
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.translate(MARGIN, MARGIN)
  pen.fillStyle = colour('--ink')
  pen.font = fontFace(18, 600)
  pen.fillText(title, 0, 16, width)
  pen.fillStyle = colour('--ink-3')
  pen.font = fontFace()
  pen.fillText(subtitle, 0, 38, width)
  pen.translate(0, HEAD_HEIGHT)
  draw(pen)
  return canvas
}

/** Draws an image and saves it as a PNG. `bodyOf` receives a canvas context, with which it can measure text. */
export function savePicture(text: PictureText, bodyOf: (measure: Pen) => PictureBody): void {
  drawPicture(text, bodyOf)?.toBlob((blob) => {
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${text.name}.png`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
