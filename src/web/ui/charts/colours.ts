/** CSS colors resolved for use on a canvas, recomputed when the theme changes. */
import { useEffect, useState } from 'preact/hooks'
import { isDark, THEME_CHANGED } from '../frame/theme.tsx'

/** One of eight palette colors, bad, or a step of the sequential scale. */
export type Hue = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 'bad' | 'good'

export const hueOf = (index: number): Hue => ((index % 8) + 1) as Hue
export const hueClass = (hue: Hue): string => `hue-${hue}`

type Swatch = { hue: Hue; style: 'line' | 'bar'; isPrevious?: boolean }
/** The classes of the square that stands for a line in a legend. The previous period is dashed or pale. */
export const swatchClass = ({ hue, style, isPrevious = false }: Swatch): string =>
  ['swatch', isPrevious && (style === 'bar' ? 'pale' : 'dashed'), hueClass(hue)].filter(Boolean).join(' ')

/** Resolved colors by theme and CSS text, cached because resolving one forces a style recalculation. */
const colourByKey = new Map<string, string>()

/** An element whose style resolves colors. It stays, because adding and removing it would change the page each time. */
let probe: HTMLElement | undefined

function resolveColour(css: string): string {
  probe ??= document.body.appendChild(Object.assign(document.createElement('span'), { hidden: true }))
  probe.style.color = css
  return getComputedStyle(probe).color
}

/** Resolves a CSS color for a canvas, which cannot evaluate variables or `light-dark()`. */
export function colourOf(css: string): string {
  const key = `${isDark()} ${css}`
  const found = colourByKey.get(key) ?? resolveColour(css)
  colourByKey.set(key, found)
  return found
}

export const colour = (name: string): string => colourOf(`var(${name})`)

export const hueVariable = (hue: Hue): string => (typeof hue === 'string' ? `--${hue}` : `--hue-${hue}`)
export const hueColour = (hue: Hue): string => colour(hueVariable(hue))

/** Returns a number that changes with the theme. */
export function useTheme(): number {
  const [renders, rerender] = useState(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const onThemeChange = (): void => rerender((count) => count + 1)
    dark.addEventListener('change', onThemeChange)
    window.addEventListener(THEME_CHANGED, onThemeChange)
    return () => {
      dark.removeEventListener('change', onThemeChange)
      window.removeEventListener(THEME_CHANGED, onThemeChange)
    }
  }, [])
  return renders
}
