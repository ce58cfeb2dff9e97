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

/** A currency with its name, as `EUR – Euro`. */
export const currencyTitle = (code: string): string =>
  `${code} – ${new Intl.DisplayNames(locale, { type: 'currency' }).of(code) ?? code}`
