/** A chart as a picture to send: its title over it, on the page's own paper. */
import { colour } from './colours.ts'

const MARGIN = 24
const HEAD = 56

/** Saves what a canvas shows as a PNG. */
export function savePicture(canvas: HTMLCanvasElement, title: string, under: string, name: string): void {
  const scale = devicePixelRatio
  const sheet = document.createElement('canvas')
  sheet.width = canvas.width + 2 * MARGIN * scale
  sheet.height = canvas.height + (HEAD + 2 * MARGIN) * scale
  const pen = sheet.getContext('2d')
  if (!pen) return
  const face = getComputedStyle(document.body).fontFamily
  pen.fillStyle = colour('--card')
  pen.fillRect(0, 0, sheet.width, sheet.height)
  pen.fillStyle = colour('--ink')
  pen.font = `600 ${18 * scale}px ${face}`
  pen.fillText(title, MARGIN * scale, (MARGIN + 16) * scale)
  pen.fillStyle = colour('--ink-3')
  pen.font = `${12 * scale}px ${face}`
  pen.fillText(under, MARGIN * scale, (MARGIN + 36) * scale)
  pen.drawImage(canvas, MARGIN * scale, (MARGIN + HEAD) * scale)
  sheet.toBlob((blob) => {
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${name}.png`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
