/** What a viewer can choose for the amounts, the comparison and the currency of a view. */
import { locale } from '../locale.ts'
import type { Comparison, Scope } from '../scope.ts'

export const BASES: readonly { value: Scope['basis']; title: string }[] = [
  { value: 'gross', title: 'Gross' },
  { value: 'proceeds', title: 'Proceeds' },
]

export const COMPARISONS: readonly { value: Comparison; title: string }[] = [
  { value: 'none', title: 'No comparison' },
  { value: 'previous', title: 'Previous period' },
  { value: 'year', title: 'Same period last year' },
]

let currencyNames: Intl.DisplayNames | undefined

/** A currency with its name, as `EUR – Euro`. */
export function currencyTitle(code: string): string {
  currencyNames ??= new Intl.DisplayNames(locale, { type: 'currency' })
  return `${code} – ${currencyNames.of(code) ?? code}`
}
