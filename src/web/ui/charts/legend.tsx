/** The legend: color, title and figure of each line. A click toggles the line. */
import type { JSX } from 'preact'
import { count } from '../words.ts'
import { swatchClass } from './colours.ts'
import { FEW_CASES, type Graph } from './graph.ts'

type LegendProps = { graph: Graph; hidden: ReadonlySet<string>; onToggle: (key: string) => void }

export const Legend = ({ graph, hidden, onToggle }: LegendProps): JSX.Element => (
  <ul class="legend">
    {graph.lines.map((line) => {
      const cases = graph.casesOf?.(line) ?? null
      return (
        <li key={line.key}>
          <button type="button" aria-pressed={!hidden.has(line.key)} onClick={() => onToggle(line.key)}>
            <span class={swatchClass(line)} />
            <span class="cut">{line.title}</span>
            <strong class={cases !== null && cases < FEW_CASES ? 'few' : undefined}>
              {graph.format(graph.figureOf(line))}
            </strong>
            {cases !== null && <span class="quiet">n = {count(cases)}</span>}
          </button>
        </li>
      )
    })}
    {graph.figureDays && <li class="quiet">{graph.figureDays}</li>}
  </ul>
)
