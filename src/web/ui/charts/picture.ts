/** Export of a chart as a PNG: title, chart and legend on the page's background. */
import { colour, hueColour } from './colours.ts'
import type { Graph } from './graph.ts'

const MARGIN = 24
const HEAD = 60
const ROW = 22
const SWATCH = 10

export type Pen = CanvasRenderingContext2D
/** The content below the title: its size in points, and a function that draws it from its upper left corner. */
export type Body = { width: number; height: number; draw: (pen: Pen) => void }
type PictureText = { title: string; under: string; name: string }
type Key = { words: string; ink: string; x: number; y: number }

/** The page's font; 12 points by default. */
export const fontFace = (size = 12, weight = 400): string =>
  `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`

/** Lays out the legend entries in rows. */
function keysOf(graph: Graph, pen: Pen, width: number): { keys: Key[]; rows: number } {
  let x = 0
  let row = 0
  const keys = graph.lines.map((line) => {
    const words = `${line.title} ${graph.words(graph.summed(line))}`
    const wide = SWATCH + 6 + pen.measureText(words).width + 18
    if (x > 0 && x + wide > width) {
      x = 0
      row += 1
    }
    const key = { words, ink: hueColour(line.hue), x, y: row * ROW }
    x += wide
    return key
  })
  return { keys, rows: row + 1 }
}

/** A chart over time with its legend. */
export const chartBody =
  (canvas: HTMLCanvasElement, graph: Graph) =>
  (measure: Pen): Body => {
    const width = canvas.width / devicePixelRatio
    const height = canvas.height / devicePixelRatio
    const { keys, rows } = keysOf(graph, measure, width)
    const legendHeight = graph.lines.length > 1 ? rows * ROW + 8 : 0
    const draw = (pen: Pen): void => {
      pen.drawImage(canvas, 0, 0, width, height)
      if (legendHeight === 0) return
      for (const { words, ink, x, y } of keys) {
        const top = height + 8 + y
        pen.fillStyle = ink
        pen.fillRect(x, top + 1, SWATCH, SWATCH)
        pen.fillStyle = colour('--ink-2')
        pen.fillText(words, x + SWATCH + 6, top + SWATCH)
      }
    }
    return { width, height: height + legendHeight, draw }
  }

function drawn({ title, under }: PictureText, bodyOf: (measure: Pen) => Body): HTMLCanvasElement | null {
  const sheet = document.createElement('canvas')
  const pen = sheet.getContext('2d')
  if (!pen) return null
  pen.font = fontFace()
  const { width, height, draw } = bodyOf(pen)
  const scale = devicePixelRatio
  sheet.width = (width + 2 * MARGIN) * scale
  sheet.height = (height + HEAD + 2 * MARGIN) * scale
  pen.scale(scale, scale)
  pen.fillStyle = colour('--card')
  pen.fillRect(0, 0, sheet.width, sheet.height)
  pen.translate(MARGIN, MARGIN)
  pen.fillStyle = colour('--ink')
  pen.font = fontFace(18, 600)
  pen.fillText(title, 0, 16, width)
  pen.fillStyle = colour('--ink-3')
  pen.font = fontFace()
  pen.fillText(under, 0, 38, width)
  pen.translate(0, HEAD)
  draw(pen)
  return sheet
}

/** Saves the image as a PNG. `bodyOf` receives a pen to measure text with. */
export function savePicture(words: PictureText, bodyOf: (measure: Pen) => Body): void {
  drawn(words, bodyOf)?.toBlob((blob) => {
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${words.name}.png`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
