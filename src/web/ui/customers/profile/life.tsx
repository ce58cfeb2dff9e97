/** A subscription's timeline as a bar and as a table: trial, paid, grace, gaps, refunds. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { productName } from '../../../../apps/product_name.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { TableHead } from '../../parts/table_head.tsx'
import { date, money, monthOf, plural } from '../../words.ts'
import { type Axis, type BarSection, type BarSectionKind, positionOn } from './bar.ts'
import type { Transaction } from './profile_answer.ts'

const KINDS: Record<BarSectionKind, string> = {
  trial: 'Free trial',
  free_offer: 'Free offer',
  intro: 'Introductory price',
  offer: 'Offer price',
  paid: 'Paid',
  grace: 'Grace period',
  gap: 'Lapsed',
}
const ENDINGS = {
  voluntary: 'auto-renewal was off',
  billing: 'the payment failed',
  refund: 'it was refunded',
  other: 'it ended',
} as const

type LifeProps = {
  sections: BarSection[]
  refunds: Transaction[]
  axis: Axis
  now: number
  bundle: string | undefined
}

/** The description of a section. */
const sectionText = (
  { kind, product_id, price_milli, currency, period_starts, ending }: BarSection,
  bundle?: string,
): string =>
  [
    KINDS[kind],
    kind !== 'grace' && product_id && productName(product_id, bundle),
    price_milli !== null && price_milli > 0 && money(price_milli, currency),
    period_starts.length > 1 && plural(period_starts.length, 'period'),
    ending && ENDINGS[ending],
  ]
    .filter(Boolean)
    .join(', ')

const HEIGHT = 30

/** Beyond this percentage, a label would pass the end of a bar on a phone; it ends at its tick. */
const LAST_START = 80

const Ticks = ({ axis }: { axis: Axis }): JSX.Element => (
  <>
    {axis.ticks.map((tick, index) => {
      const position = positionOn(axis, tick)
      const x = `${position}%`
      // Every second label, counted from the last, is for wide screens only.
      const isForAll = (axis.ticks.length - 1 - index) % 2 === 0
      return (
        <g key={tick}>
          <line x1={x} x2={x} y1="0" y2={HEIGHT} class="life-tick" />
          <text
            x={x}
            y={HEIGHT + 16}
            class={isForAll ? 'life-year' : 'life-year many'}
            text-anchor={position > LAST_START ? 'end' : 'start'}
          >
            {monthOf(tick)}
          </text>
        </g>
      )
    })}
  </>
)

/** Minimum width, so that short sections stay visible. */
const MIN_WIDTH_PERCENT = 0.35

function SectionShape({
  section,
  axis,
  title,
  hatch,
}: {
  section: BarSection
  axis: Axis
  title: string
  hatch: string
}): JSX.Element {
  const left = positionOn(axis, section.from)
  const width = Math.max(positionOn(axis, section.to) - left, MIN_WIDTH_PERCENT)
  const inset = section.kind === 'paid' ? 4 : 9
  if (section.kind === 'gap')
    return (
      <line x1={`${left}%`} x2={`${left + width}%`} y1={HEIGHT / 2} y2={HEIGHT / 2} class="life-gap">
        <title>{title}</title>
      </line>
    )
  return (
    <g>
      <rect
        x={`${left}%`}
        y={inset}
        width={`${width}%`}
        height={HEIGHT - 2 * inset}
        rx="3"
        class={`life-${section.kind}`}
        fill={section.kind === 'grace' ? `url(#${hatch})` : undefined}
      >
        <title>{title}</title>
      </rect>
      {section.period_starts.slice(1).map((start) => {
        const x = `${positionOn(axis, start)}%`
        return <line key={start} x1={x} x2={x} y1={inset} y2={HEIGHT - inset} class="life-renewal" />
      })}
    </g>
  )
}

/** Draws the future in a paler color, and marks the current time and refunds. */
function Marks({ refunds, axis, now }: Pick<LifeProps, 'refunds' | 'axis' | 'now'>): JSX.Element {
  const at = positionOn(axis, now)
  return (
    <>
      <rect x={`${at}%`} y="0" width={`${100 - at}%`} height={HEIGHT} class="life-future" />
      {refunds.map(({ transaction_id, refunded }) => (
        <svg
          key={transaction_id}
          aria-hidden="true"
          x={`${positionOn(axis, refunded?.at ?? 0)}%`}
          y="0"
          overflow="visible"
        >
          <path d="M0 3l5 8h-10z" transform={`translate(0 ${HEIGHT - 9})`} class="life-refund" />
        </svg>
      ))}
      <line x1={`${at}%`} x2={`${at}%`} y1="0" y2={HEIGHT} class="life-now" />
    </>
  )
}

function Bar({ sections, refunds, axis, now, bundle }: LifeProps): JSX.Element {
  const hatch = useId()
  return (
    <svg
      class="life-bar"
      width="100%"
      height={HEIGHT + 22}
      role="img"
      aria-label="Subscription timeline; the table below has the same data"
    >
      <defs>
        <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" class="hatch-ground" />
          <rect width="3" height="6" class="hatch-line" />
        </pattern>
      </defs>
      <Ticks axis={axis} />
      {sections.map((section) => (
        <SectionShape
          key={section.from}
          section={section}
          axis={axis}
          hatch={hatch}
          title={`${sectionText(section, bundle)}, ${date(section.from)} – ${date(section.to)}`}
        />
      ))}
      <Marks refunds={refunds} axis={axis} now={now} />
    </svg>
  )
}

const BarLegend = ({ kinds, hasRefunds }: { kinds: BarSectionKind[]; hasRefunds: boolean }): JSX.Element => (
  <ul class="legend" aria-hidden="true">
    {kinds.map((kind) => (
      <li key={kind}>
        <svg width="16" height="12" class="life-key" aria-hidden="true">
          {kind === 'gap' ? (
            <line x1="0" x2="16" y1="6" y2="6" class="life-gap" />
          ) : (
            <rect
              y={kind === 'paid' ? 0 : 2}
              width="16"
              height={kind === 'paid' ? 12 : 8}
              rx="3"
              class={`life-${kind}`}
            />
          )}
        </svg>
        {KINDS[kind]}
      </li>
    ))}
    {hasRefunds && (
      <li>
        <svg width="12" height="12" class="life-key" aria-hidden="true">
          <path d="M6 1l5 9H1z" class="life-refund" />
        </svg>
        Refund
      </li>
    )}
  </ul>
)

export function Life(props: LifeProps): JSX.Element {
  const { sections, refunds, bundle } = props
  const kinds = [...new Set(sections.map(({ kind }) => kind))]
  return (
    <div class="life">
      <Bar {...props} />
      <BarLegend kinds={kinds} hasRefunds={refunds.length > 0} />
      <details class="life-table">
        <summary>View as table</summary>
        <Scroll label="Subscription timeline as a table">
          <table class="table">
            <TableHead headings={[{ title: 'From' }, { title: 'To' }, { title: 'Segment' }]} />
            <tbody>
              {sections.map((section) => (
                <tr key={section.from}>
                  <td>{date(section.from)}</td>
                  <td>{date(section.to)}</td>
                  <td>{sectionText(section, bundle)}</td>
                </tr>
              ))}
              {refunds.map(({ transaction_id, refunded, currency }) => (
                <tr key={transaction_id}>
                  <td>{date(refunded?.at)}</td>
                  <td />
                  <td>Refund of {money(refunded?.milli, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </div>
  )
}
