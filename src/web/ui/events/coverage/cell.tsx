/** One month of one metric: Apple's figure, the ledger's figure and the causes of the difference. */
import type { JSX } from 'preact'
import { type App, appName } from '../../apps.ts'
import { useOtherDefinitions } from '../../metrics/definitions.ts'
import { Stat } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { count, day, money, month, share } from '../../words.ts'
import { type Cell, METRIC_TITLES, residueOf } from './grid.ts'

type Props = { cell: Cell; apps: readonly App[]; onClose: () => void }

export function CoverageCell({ cell, apps, onClose }: Props): JSX.Element {
  const { currency } = cell
  const format = (value: number): string => (cell.unit === 'money' ? money(value, currency) : count(value))
  const difference = cell.reports - cell.ledger
  return (
    <Dialog
      title={`${METRIC_TITLES[cell.metric]}, ${appName(apps, cell.app_id)}, ${month(`${cell.month}-01`)}`}
      onClose={onClose}
    >
      <div class="stack">
        <div class="stats">
          <Stat label="Apple’s reports" under={`until ${day(cell.day_on)}`}>
            {format(cell.reports)}
          </Stat>
          <Stat label="Ledger" under={cell.share === null ? '' : `${share(cell.share)} of Apple’s figure`}>
            {format(cell.ledger)}
          </Stat>
        </div>
        <Residue cell={cell} difference={difference} format={format} />
      </div>
    </Dialog>
  )
}

function Residue({
  cell,
  difference,
  format,
}: {
  cell: Cell
  difference: number
  format: (value: number) => string
}): JSX.Element {
  const causes = useOtherDefinitions()?.coverage.find(({ name }) => name === 'residue')?.parts ?? []
  const parts = residueOf(cell)
  const largest = Math.max(...parts.map(({ value }) => Math.abs(value)))
  if (parts.length === 0) return <p class="notice good">Both sources agree exactly.</p>
  return (
    <section class="stack-s">
      <h3>
        {difference === 0
          ? 'Both sources agree; these differences cancel out'
          : `${format(Math.abs(difference))} ${difference > 0 ? 'more in Apple’s reports' : 'more in the ledger'}`}
      </h3>
      <ul class="residue">
        {parts.map(({ cause, value }) => {
          const description = causes.find(({ name }) => name === cause)
          return (
            <li key={cause}>
              <span>{description?.title ?? cause}</span>
              <strong class="number">{format(value)}</strong>
              <span class="residue-track">
                <svg aria-hidden="true">
                  <rect
                    width={`${(Math.abs(value) / largest) * 100}%`}
                    height="100%"
                    rx="3"
                    class={value > 0 ? 'residue-more' : 'residue-less'}
                  />
                </svg>
              </span>
              <span class="tiny quiet">{description?.sentence}</span>
            </li>
          )
        })}
      </ul>
      {parts.some(({ value }) => value < 0) && (
        <p class="tiny quiet">A negative amount is in the ledger but not in Apple’s reports.</p>
      )}
    </section>
  )
}
