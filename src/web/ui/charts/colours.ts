/** Colours of the page as canvases need them: computed, and anew when the theme changes. */
import { useEffect, useState } from 'preact/hooks'
import { isDark, THEME_CHANGED } from '../frame/theme.tsx'

/** One of eight, a mood, or a step on the way from old to new. */
export type Hue = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 'good' | 'bad' | `step-${number}`

export const hueOf = (index: number): Hue => ((index % 8) + 1) as Hue
export const hueClass = (hue: Hue): string => `hue-${hue}`

const STEPS = 12
/** The colour of one of several that follow one another in time, the newest strongest. */
export const stepHue = (index: number, of: number): Hue =>
  `step-${of < 2 ? STEPS : 1 + Math.round((index / (of - 1)) * (STEPS - 1))}`

/** By theme and words of CSS. Each one asked for makes the browser style the page anew, in the middle of drawing. */
const known = new Map<string, string>()

function computed(css: string): string {
  const probe = document.createElement('span')
  probe.style.color = css
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Any colour of CSS as one that a canvas takes: `light-dark()` is decided by the element it is used on. */
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

/** A number that changes with the theme. */
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
