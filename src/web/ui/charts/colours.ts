/** CSS colors resolved for use on a canvas, recomputed when the theme changes. */
import { useEffect, useState } from 'preact/hooks'
import { isDark, THEME_CHANGED } from '../frame/theme.tsx'

/** One of eight palette colors, good or bad, or a step of the sequential scale. */
export type Hue = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 'good' | 'bad' | `step-${number}`

export const hueOf = (index: number): Hue => ((index % 8) + 1) as Hue
export const hueClass = (hue: Hue): string => `hue-${hue}`

const STEPS = 12
/** The sequential color of item `index` of `of`; the newest is the strongest. */
export const stepHue = (index: number, of: number): Hue =>
  `step-${of < 2 ? STEPS : 1 + Math.round((index / (of - 1)) * (STEPS - 1))}`

/** Cache by theme and CSS text. Each lookup forces a style recalculation in the middle of drawing. */
const known = new Map<string, string>()

function computed(css: string): string {
  const probe = document.createElement('span')
  probe.style.color = css
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Resolves a CSS color for a canvas. `light-dark()` depends on the element it is applied to. */
export function colourOf(css: string): string {
  const key = `${isDark()} ${css}`
  const found = known.get(key) ?? computed(css)
  known.set(key, found)
  return found
}

export const colour = (name: string): string => colourOf(`var(${name})`)

export const hueVariable = (hue: Hue): string =>
  hue === 'good' || hue === 'bad' ? `--${hue}` : `--hue-${hue}`
export const hueColour = (hue: Hue): string => colour(hueVariable(hue))

/** Returns a number that changes with the theme. */
export function useTheme(): number {
  const [renders, rerender] = useState(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const look = (): void => rerender((count) => count + 1)
    dark.addEventListener('change', look)
    window.addEventListener(THEME_CHANGED, look)
    return () => {
      dark.removeEventListener('change', look)
      window.removeEventListener(THEME_CHANGED, look)
    }
  }, [])
  return renders
}
