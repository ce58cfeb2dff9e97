/** A chart as a picture to send: its title over it, what its colours mean under it, on the page's own paper. */
import { colour, hueColour } from './colours.ts'
import type { Graph } from './graph.ts'

const MARGIN = 24
const HEAD = 60
const ROW = 22
const SWATCH = 10

type Key = { words: string; ink: string; x: number; y: number }

/** Where each colour's name stands: one beside the other, in as many rows as it takes. */
function keysOf(graph: Graph, pen: CanvasRenderingContext2D, width: number): { keys: Key[]; rows: number } {
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

type Picture = { canvas: HTMLCanvasElement; graph: Graph; title: string; under: string; name: string }

function drawn({ canvas, graph, title, under }: Picture): HTMLCanvasElement | null {
  const scale = devicePixelRatio
  const width = canvas.width / scale
  const height = canvas.height / scale
  const face = getComputedStyle(document.body).fontFamily
  const sheet = document.createElement('canvas')
  const pen = sheet.getContext('2d')
  if (!pen) return null
  pen.font = `12px ${face}`
  const { keys, rows } = keysOf(graph, pen, width)
  const foot = graph.lines.length > 1 ? rows * ROW + 8 : 0
  sheet.width = (width + 2 * MARGIN) * scale
  sheet.height = (height + HEAD + foot + 2 * MARGIN) * scale
  pen.scale(scale, scale)
  pen.fillStyle = colour('--card')
  pen.fillRect(0, 0, sheet.width, sheet.height)
  pen.translate(MARGIN, MARGIN)
  pen.fillStyle = colour('--ink')
  pen.font = `600 18px ${face}`
  pen.fillText(title, 0, 16, width)
  pen.fillStyle = colour('--ink-3')
  pen.font = `12px ${face}`
  pen.fillText(under, 0, 38, width)
  pen.drawImage(canvas, 0, HEAD, width, height)
  if (foot === 0) return sheet
  for (const { words, ink, x, y } of keys) {
    const top = HEAD + height + 8 + y
    pen.fillStyle = ink
    pen.fillRect(x, top + 1, SWATCH, SWATCH)
    pen.fillStyle = colour('--ink-2')
    pen.fillText(words, x + SWATCH + 6, top + SWATCH)
  }
  return sheet
}

/** Saves it as a PNG. */
export function savePicture(picture: Picture): void {
  drawn(picture)?.toBlob((blob) => {
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${picture.name}.png`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
