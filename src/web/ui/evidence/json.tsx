/** Formatted JSON that shows instants next to their numbers. */
import type { JSX } from 'preact'
import { instant } from '../words.ts'
import { jsonLines } from './json_lines.ts'

export const Json = ({ value, label }: { value: unknown; label: string }): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
  <section class="json" tabIndex={0} aria-label={label}>
    <pre>
      {jsonLines(value).map((line, index) => (
        <span key={index} class="line" style={{ paddingLeft: `${line.depth * 1.25}em` }}>
          {line.key !== null && <span class="json-key">{line.key}: </span>}
          <span class={`json-${line.kind}`}>{line.value}</span>
          {line.at !== null && <span class="json-note"> {instant(line.at)}</span>}
          {'\n'}
        </span>
      ))}
    </pre>
  </section>
)
