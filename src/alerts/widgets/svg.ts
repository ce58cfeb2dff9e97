/** Pictures of widgets and badges as SVG, in the theme of the viewer. */
import { cut } from '../channels/texts.ts'
import type { WidgetFigure, WidgetFigures } from './figures.ts'
import { changeOf, changeText, shortText, valueText } from './texts.ts'

const WIDTH = 320
const PADDING = 16
const HEAD = 34
const ROW = 44
const SPARK = { width: 84, height: 24 } as const
/** The size of a title or name that fits. */
const MAX_NAME = 34
const MAX_VALUE = 16

const STYLE = `
  .bg{fill:#fff;stroke:#e3e6e4}.t{fill:#5b6664}.v{fill:#101514}.s{stroke:#0f766e;fill:none}.g{fill:#15803d}.b{fill:#b91c1c}
  @media (prefers-color-scheme:dark){.bg{fill:#151b1a;stroke:#2a3331}.t{fill:#9aa6a3}.v{fill:#f2f5f4}.s{stroke:#2dd4bf}.g{fill:#4ade80}.b{fill:#f87171}}`

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** XML does not permit control characters. */
const escaped = (text: string): string =>
  text.replace(/\p{Cc}+/gu, ' ').replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one)
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u
/** The size of a text in Latin characters, as which Chinese, Japanese and Korean ones count twice. */
const sizeOf = (text: string): number => [...text].reduce((sum, one) => sum + (WIDE.test(one) ? 2 : 1), 0)

/** A card with one row for each figure. */
export function widgetSvg(shown: WidgetFigures): string {
  const { name, figures } = shown
  const height = HEAD + ROW * figures.length + PADDING / 2
  const label = figures.map((figure) => `${figure.title} ${valueText(figure, shown.currency)}`).join(', ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(`${name}: ${label}`)}" font-family="-apple-system,Segoe UI,Roboto,Helvetica,sans-serif">`,
    `<style>${STYLE}</style>`,
    `<rect class="bg" x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="14"/>`,
    `<text class="t" x="${PADDING}" y="24" font-size="12" font-weight="600">${escaped(cut(name, MAX_NAME, sizeOf))}</text>`,
    ...figures.map((figure, index) => rowOf(figure, shown.currency, HEAD + ROW * index)),
    '</svg>',
  ].join('')
}

function rowOf(figure: WidgetFigure, currency: string, top: number): string {
  const whole = valueText(figure, currency)
  const text = [...whole].length > MAX_VALUE ? shortText(figure, currency) : whole
  const change = changeOf(figure)
  const tone = change === null || change === 0 ? 't' : change > 0 ? 'g' : 'b'
  const right = WIDTH - PADDING
  return [
    `<text class="t" x="${PADDING}" y="${top + 10}" font-size="11">${escaped(cut(figure.title, MAX_NAME, sizeOf))}</text>`,
    `<text class="v" x="${PADDING}" y="${top + 31}" font-size="19" font-weight="600">${escaped(text)}</text>`,
    `<text class="${tone}" x="${right}" y="${top + 10}" font-size="11" text-anchor="end">${escaped(changeText(figure))}</text>`,
    `<path class="s" stroke-width="1.5" stroke-linejoin="round" d="${sparkPath(figure.spark, right - SPARK.width, top + 14)}"/>`,
  ].join('')
}

/** The path of a spark line, with gaps where a day is unknown. */
function sparkPath(values: readonly (number | null)[], left: number, top: number): string {
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const span = high - low || 1
  const step = SPARK.width / Math.max(1, values.length - 1)
  let isGap = true
  return values
    .map((value, index) => {
      if (value === null) {
        isGap = true
        return ''
      }
      const [x, y] = [left + index * step, top + SPARK.height - ((value - low) / span) * SPARK.height]
      const command = isGap ? 'M' : 'L'
      isGap = false
      return `${command}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}

/** The width of a text of a badge at 11 pixels, about: capitals are wide, and some characters are narrow. */
const widthOf = (text: string): number =>
  [...text].reduce((sum, one) => sum + (/[A-Z$¥€£%+]/.test(one) ? 8 : /[\s.,:il1]/.test(one) ? 4.5 : 6.6), 0)
const BADGE_HEIGHT = 20

/** A badge as in README files: the title, then the figure. */
export function badgeSvg(figure: WidgetFigure, currency: string): string {
  const [title, value] = [cut(figure.title, MAX_NAME, sizeOf), shortText(figure, currency)]
  const [left, right] = [title, value].map((text) => Math.ceil(widthOf(text)) + 12) as [number, number]
  const width = left + right
  const textAt = (x: number, text: string): string => `<text x="${x}" y="14">${escaped(text)}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${BADGE_HEIGHT}" viewBox="0 0 ${width} ${BADGE_HEIGHT}" role="img" aria-label="${escaped(`${title}: ${value}`)}">`,
    `<clipPath id="r"><rect width="${width}" height="${BADGE_HEIGHT}" rx="4"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${left}" height="${BADGE_HEIGHT}" fill="#3f4a48"/><rect x="${left}" width="${right}" height="${BADGE_HEIGHT}" fill="#0f766e"/></g>`,
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">`,
    textAt(left / 2, title),
    textAt(left + right / 2, value),
    '</g></svg>',
  ].join('')
}
