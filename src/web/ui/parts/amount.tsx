/** Figures that fit their place: those with many digits are shortened, with the exact figure as title and for screen readers. */
import type { ComponentChild, JSX } from 'preact'
import { money, shortMoney, UNKNOWN } from '../words.ts'

/** The longest exact figure. A tile on a phone has room for it. */
const MAX_CHARACTERS = 10

/** Shows `exact`, or `short` if `exact` is too long. */
export const Fit = ({ exact, short }: { exact: string; short: string }): ComponentChild =>
  exact.length <= MAX_CHARACTERS || short.length >= exact.length ? (
    exact
  ) : (
    <span title={exact}>
      <span class="spoken">{exact}</span>
      <span aria-hidden="true">{short}</span>
    </span>
  )

type AmountProps = { milli: number | null | undefined; currency: string | null }
/** Thousandths of a currency, shortened if the amount is too long. */
export const Amount = ({ milli, currency }: AmountProps): JSX.Element => (
  <Fit exact={money(milli, currency)} short={milli == null ? UNKNOWN : shortMoney(milli, currency)} />
)
