/** The legend: color, title and figure of each line. A click toggles the line. */
import type { JSX } from 'preact'
import { swatchClass } from './colours.ts'
import type { Graph } from './graph.ts'

type LegendProps = { graph: Graph; hidden: ReadonlySet<string>; onToggle: (key: string) => void }

export const Legend = ({ graph, hidden, onToggle }: LegendProps): JSX.Element => (
  <ul class="legend">
    {graph.lines.map((line) => (
      <li key={line.key}>
        <button type="button" aria-pressed={!hidden.has(line.key)} onClick={() => onToggle(line.key)}>
          <span class={swatchClass(line)} />
          <span class="cut">{line.title}</span>
          <strong>{graph.format(graph.figureOf(line))}</strong>
        </button>
      </li>
    ))}
  </ul>
)
