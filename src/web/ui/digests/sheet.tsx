/** The figures of a digest on one sheet. */
import type { ComponentChildren, JSX } from 'preact'
import { countryName } from '../countries/names.ts'
import { Delta } from '../parts/card.tsx'
import { count, money, plural, share, signedMoney } from '../words.ts'
import { type DigestFigures, periodText } from './digest_answer.ts'

type SheetProps = { title: string; figures: DigestFigures; children: ComponentChildren }

/** `children` say where the figures come from. */
export function Sheet({ title, figures, children }: SheetProps): JSX.Element {
  const { from_on, until_on, time_zone, currency, is_behind, is_provisional } = figures
  return (
    <article class="digest-sheet">
      <header>
        <p class="small quiet digest-kind">{title}</p>
        <h2>{periodText(from_on, until_on)}</h2>
        <p class="small quiet">
          Days in {time_zone}. Amounts in {currency}. {children}
        </p>
        {(is_provisional || is_behind) && (
          <p class="notice warn">
            {is_behind
              ? 'Figures were still being computed when they were read.'
              : 'Figures marked with * can still change.'}
          </p>
        )}
      </header>
      <Money figures={figures} />
      <Recurring figures={figures} />
      <Subscribers figures={figures} />
      <Attention figures={figures} />
    </article>
  )
}

type Figures = { figures: DigestFigures }
type Compared = DigestFigures['revenue']

const Mark = ({ isProvisional }: { isProvisional: boolean }): JSX.Element | null =>
  isProvisional ? <abbr title="Can still change">*</abbr> : null

type LineProps = {
  label: string
  value: ComponentChildren
  usual?: ComponentChildren
  change?: ComponentChildren
}
const Line = ({ label, value, usual, change }: LineProps): JSX.Element => (
  <tr>
    <th scope="row">{label}</th>
    <td class="number">{value}</td>
    <td class="number quiet">{usual}</td>
    <td class="number">{change}</td>
  </tr>
)

type TableProps = { title: string; usual: string; children: ComponentChildren }
const Table = ({ title, usual, children }: TableProps): JSX.Element => (
  <table class="table digest-table">
    <thead>
      <tr>
        <th scope="col">{title}</th>
        <th scope="col" class="number">
          Value
        </th>
        <th scope="col" class="number">
          {usual}
        </th>
        <th scope="col" class="number">
          Change
        </th>
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)

const ComparedLine = ({
  label,
  compared: { value, usual, is_provisional },
  format,
}: {
  label: string
  compared: Compared
  format: (value: number | null) => string
}): JSX.Element => (
  <Line
    label={label}
    value={
      <>
        {format(value)}
        <Mark isProvisional={is_provisional} />
      </>
    }
    usual={format(usual)}
    change={
      value !== null && usual !== null && <Delta now={value} before={usual} against="against the usual" />
    }
  />
)

function Money({ figures: { revenue, proceeds, best_country: best, currency } }: Figures): JSX.Element {
  const format = (milli: number | null): string => money(milli, currency)
  return (
    <Table title="Money" usual={usualTitle(revenue)}>
      <ComparedLine label="Revenue" compared={revenue} format={format} />
      <ComparedLine label="Proceeds" compared={proceeds} format={format} />
      {best && <Line label={`Best country: ${countryName(best.country)}`} value={format(best.milli)} />}
    </Table>
  )
}

const usualTitle = ({ usual_of }: Compared): string =>
  usual_of === 0 || usual_of === 4 ? 'Usual' : `Usual of ${plural(usual_of, 'week')}`

function Recurring({ figures: { mrr, currency } }: Figures): JSX.Element {
  const { milli, before_milli: before } = mrr
  const format = (difference: number): string => signedMoney(difference, currency)
  return (
    <Table title="Recurring revenue" usual="Before">
      <Line
        label="MRR"
        value={
          <>
            {money(milli, currency)}
            <Mark isProvisional={mrr.is_provisional} />
          </>
        }
        usual={money(before, currency)}
        change={
          milli !== null &&
          before !== null && (
            <Delta now={milli} before={before} against="against the value before" format={format} />
          )
        }
      />
      {mrr.movements.map(({ part, title, milli: moved }) => (
        <Line
          key={part}
          label={title}
          value=""
          change={<Delta now={moved} before={0} against="of MRR" format={format} />}
        />
      ))}
    </Table>
  )
}

const mean = (value: number | null): string => (value === null ? '–' : count(Math.round(value * 10) / 10))

function Subscribers({ figures }: Figures): JSX.Element {
  const { trials, churn, failed_payments: failed, currency } = figures
  const atRisk = failed.at_risk_milli ? ` (${money(failed.at_risk_milli, currency)}/month)` : ''
  return (
    <Table title="Subscribers" usual={usualTitle(trials.started)}>
      <ComparedLine
        label="New trials"
        compared={{ ...trials.started, is_provisional: false }}
        format={mean}
      />
      <Line label="Active trials" value={count(trials.active)} />
      <Line
        label="Trials converted"
        value={trials.ended ? `${count(trials.converted)} of ${count(trials.ended)}` : '–'}
      />
      <Line
        label="Churn"
        value={
          churn.ratio === null ? '–' : `${share(churn.ratio)} (${count(churn.lost)} of ${count(churn.of)})`
        }
      />
      <Line label="Failed payments" value={`${count(failed.count)}${atRisk}`} />
    </Table>
  )
}

/** The findings that are shown, so that the digest fits on one sheet. */
const MAX_FINDINGS = 6

function Attention({ figures: { attention } }: Figures): JSX.Element {
  const more = attention.length - MAX_FINDINGS
  return (
    <section class="digest-attention">
      <h3>Needs attention</h3>
      {attention.length === 0 ? (
        <p class="small">Nothing.</p>
      ) : (
        <ul>
          {attention.slice(0, MAX_FINDINGS).map(({ title, text, level }) => (
            <li key={title}>
              <strong>
                {level === 'fault' ? 'Fault: ' : ''}
                {title}
              </strong>{' '}
              <span class="quiet">{text}</span>
            </li>
          ))}
          {more > 0 && <li>and {count(more)} more under Settings, System</li>}
        </ul>
      )}
    </section>
  )
}
