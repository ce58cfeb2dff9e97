/** The menus of the two currencies: the one that amounts are shown in, and the one that customers were billed in. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { APPLE_CURRENCIES } from '../../../rates/currencies.ts'
import { type OrganizationOverview, useOverview } from '../overview.ts'
import { MenuSearch, PickLabel, Popover } from '../parts/popover.tsx'
import type { Scope } from '../scope.ts'
import { day } from '../words.ts'
import { currencyTitle } from './scope_choices.ts'

type Props = { scope: Scope; change: (changes: Partial<Scope>) => void }
type Choice = { value: string | null; title: string }

/** The choices whose code or name contains the text. The first choice is always listed. */
function listedChoices(codes: readonly string[], text: string): Choice[] {
  const wanted = text.trim().toLowerCase()
  return codes
    .map((value) => ({ value, title: currencyTitle(value) }))
    .filter(({ title }) => title.toLowerCase().includes(wanted))
}

type CurrencyMenuProps = {
  title: string
  label: string
  none: string
  value: string | null
  codes: readonly string[]
  note?: string | null
  onPick: (code: string | null) => void
}

function CurrencyMenu({ title, label, ...menu }: CurrencyMenuProps): JSX.Element {
  return (
    <Popover buttonClass="pick" class="menu" label={<PickLabel title={title}>{label}</PickLabel>}>
      {(close) => <CurrencyChoices title={title} {...menu} close={close} />}
    </Popover>
  )
}

function CurrencyChoices({
  title,
  none,
  value,
  codes,
  note,
  onPick,
  close,
}: Omit<CurrencyMenuProps, 'label'> & { close: () => void }): JSX.Element {
  const [text, setText] = useState('')
  const listed = listedChoices(codes, text)
  const choices: Choice[] = [{ value: null, title: none }, ...listed]
  return (
    <fieldset class="plain-set">
      <legend class="group">{title}</legend>
      {note && <p class="menu-note">{note}</p>}
      <MenuSearch label="Search currencies" text={text} onInput={setText} />
      {choices.map((choice) => (
        <label key={choice.value ?? ''}>
          <input
            type="radio"
            name={title}
            checked={choice.value === value}
            onClick={() => {
              close()
              if (choice.value !== value) onPick(choice.value)
            }}
          />
          <span class="cut">{choice.title}</span>
        </label>
      ))}
      {listed.length === 0 && <p class="menu-note">No currencies found</p>}
    </fieldset>
  )
}

/** The rate of a conversion, as `1 USD = 0.8612 EUR, rate of Nov 20, 2026`. */
function rateNote(overview: OrganizationOverview | undefined): string | null {
  if (!overview?.converted) return null
  const { from, rate, rated_on } = overview.converted
  return `1 ${from} = ${rate} ${overview.currency}, rate of ${day(rated_on)}`
}

/** The currency of every amount on the page. Nothing while it is not known, as before the first app is connected. */
export function DisplayCurrencyPick({ scope, change }: Props): JSX.Element | null {
  const { overview, problem } = useOverview(scope)
  const own = overview?.converted?.from ?? overview?.currency ?? null
  const shown = scope.display ?? own
  if (shown === null) return null
  return (
    <CurrencyMenu
      title="Display currency"
      label={shown === null ? 'Currency' : `In ${shown}`}
      none={own === null ? 'Your currency' : `${own} – your currency`}
      value={scope.display}
      codes={APPLE_CURRENCIES.filter((code) => code !== own)}
      note={problem && shown !== own ? problem.message : rateNote(overview)}
      onPick={(display) => change({ display })}
    />
  )
}

/** Restricts money to the charges that customers paid in one currency. Their amounts are not converted. */
export function BillingCurrencyPick({ scope, change }: Props): JSX.Element {
  const additional = scope.currency && !APPLE_CURRENCIES.includes(scope.currency) ? [scope.currency] : []
  return (
    <CurrencyMenu
      title="Billing currency"
      label={scope.currency === null ? 'All billing currencies' : `Billed in ${scope.currency}`}
      none="All billing currencies"
      value={scope.currency}
      codes={[...additional, ...APPLE_CURRENCIES]}
      onPick={(currency) => change({ currency })}
    />
  )
}
