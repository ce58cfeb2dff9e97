import { readdirSync, readFileSync } from 'node:fs'
import {
  converter,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  wcagContrast,
} from 'culori'
import { expect, test } from 'vitest'

const TOKENS = readFileSync(new URL('../../src/web/ui/styles/tokens.css', import.meta.url), 'utf8')
const NAMES = ['hue-1', 'hue-2', 'hue-3', 'hue-4', 'hue-5', 'hue-6', 'hue-7', 'hue-8', 'bad']
const MIN_DIFFERENCE = 12
/** WCAG 1.4.11, graphical objects. */
const MIN_CONTRAST = 3

/** Both values of a token, `light-dark(#ffffff, #171c1b)`. */
function valuesOf(name: string): Record<'light' | 'dark', string> {
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(TOKENS) ?? []
  expect([name, light, dark]).not.toContain('')
  return { light, dark }
}

const rgb = converter('rgb')
const SIGHTS = {
  full: rgb,
  'without red': filterDeficiencyProt(1),
  'without green': filterDeficiencyDeuter(1),
  'without blue': filterDeficiencyTrit(1),
}
const difference = differenceCiede2000()

test.each(['light', 'dark'] as const)(
  'any two colors of charts differ, whatever the color blindness (%s)',
  (theme) => {
    const colours = NAMES.map((name) => [name, rgb(valuesOf(name)[theme])] as const)
    const similar = Object.entries(SIGHTS).flatMap(([sight, see]) =>
      colours.flatMap(([name, one], index) =>
        colours.slice(index + 1).flatMap(([other, another]) => {
          const between = one && another ? difference(see(one), see(another)) : 0
          return between < MIN_DIFFERENCE ? [`${sight}: ${name} and ${other} ${between.toFixed(1)}`] : []
        }),
      ),
    )
    expect(similar).toEqual([])
  },
)

test('no text has a color of charts', () => {
  const folder = new URL('../../src/web/ui/styles/', import.meta.url)
  const names = readdirSync(folder).filter((name) => name.endsWith('.css'))
  const texts = names.map((name) => readFileSync(new URL(name, folder), 'utf8'))
  expect(texts.flatMap((text) => text.match(/[{;\s]color: var\(--hue-[2-8]\)/g) ?? [])).toEqual([])
})

test.each(['light', 'dark'] as const)('each color of charts stands out from the card (%s)', (theme) => {
  const card = valuesOf('card')[theme]
  const faint = NAMES.filter((name) => wcagContrast(valuesOf(name)[theme], card) < MIN_CONTRAST)
  expect(faint).toEqual([])
})
