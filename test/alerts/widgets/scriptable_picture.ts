/** Draws what the script for Scriptable made, as HTML about as large as a widget of a phone. */
import type { Drawn, Part } from './scriptable.ts'

/** In points, on an iPhone of 390 × 844. */
const SIZES: Record<string, readonly [number, number]> = {
  small: [158, 158],
  medium: [338, 158],
  large: [338, 354],
  accessoryRectangular: [160, 72],
  accessoryCircular: [72, 72],
  accessoryInline: [250, 26],
}
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;' }
const escaped = (text: string): string => text.replace(/[&<]/g, (one) => ENTITIES[one] ?? one)

type Theme = 'light' | 'dark'

function htmlOf(part: Part, theme: Theme): string {
  switch (part.kind) {
    case 'text': {
      const { text, font, textColor, lineLimit, minimumScaleFactor } = part
      const color = textColor === null ? 'inherit' : textColor[theme].hex
      const style = `font-size:${font.size}px;font-weight:${font.isBold ? 600 : 400};color:${color}`
      return `<div class="text${lineLimit === 1 ? ' one' : ''}" data-least="${minimumScaleFactor}" style="${style}">${escaped(text)}</div>`
    }
    case 'image':
      return `<svg width="${part.width}" height="${part.height}"><path d="${part.path}" fill="none" stroke-width="2" stroke="${part.color?.[theme].hex}"/></svg>`
    case 'spacer':
      return part.length === null
        ? '<div style="flex:1;min-width:8px"></div>'
        : `<div style="flex:none;width:${part.length}px;height:${part.length}px"></div>`
    case 'stack':
      return `<div class="${part.isVertical ? 'column' : 'row'}">${part.parts.map((one) => htmlOf(one, theme)).join('')}</div>`
  }
}

/** A page with a widget of each family. A text of one line shrinks as Scriptable shrinks it, then it is cut. */
export function pageOf(drawn: readonly (readonly [family: string, drawn: Drawn])[], theme: Theme): string {
  const widgets = drawn.map(([family, { parts, backgroundColor }]) => {
    const [width, height] = SIZES[family] ?? [0, 0]
    const isHome = backgroundColor !== undefined
    const style = `width:${width}px;height:${height}px;padding:${isHome ? 16 : 4}px;background:${backgroundColor?.[theme].hex ?? '#555'}`
    return `<div class="widget column" title="${family}" style="${style}">${parts.map((one) => htmlOf(one, theme)).join('')}</div>`
  })
  return `<!doctype html><style>
    body{display:flex;flex-wrap:wrap;gap:16px;width:720px;padding:16px;background:#8899aa;font-family:-apple-system,Helvetica,sans-serif}
    .widget{box-sizing:border-box;border-radius:22px;overflow:hidden;color:#fff}
    .row{display:flex;align-items:center;min-width:0} .column{display:flex;flex-direction:column;min-width:0}
    .row>*,.column>*{min-width:0} .column>*{flex-shrink:0} svg{flex:none} .one{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
  </style>${widgets.join('')}<script>
    for (const one of document.querySelectorAll('.one')) {
      const size = parseFloat(one.style.fontSize)
      for (let scale = 1; one.scrollWidth > one.clientWidth && scale >= Number(one.dataset.least); scale -= 0.02)
        one.style.fontSize = size * scale + 'px'
    }
  </script>`
}
