/** The figures of a graph as a table, newest first. */
import type { JSX } from 'preact'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { completeOf, type Graph } from './graph.ts'
import { ReasonTexts } from './reasons.ts'

type TableProps = { graph: Graph; title: string }

export function GraphTable({ graph, title }: TableProps): JSX.Element {
  const { on, lines, format, total, notes, reasonsAt } = graph
  const hasNotes = notes !== undefined && notes.size > 0
  const isIncomplete = (index: number): boolean =>
    lines.some((line) => !line.isPrevious && completeOf(line, graph)[index] === false)
  const hasReasons = on.some((_, index) => reasonsAt?.(index).length)
  return (
    <Scroll class="tall" label={`${title} as a table`}>
      <table class="table firm">
        <TableHead
          headings={[
            { title: graph.pointHeading },
            ...(total ? [{ title: 'Total', isNumber: true }] : []),
            ...lines.map((line) => ({ title: line.title, isNumber: true })),
            ...(hasReasons ? [{ title: 'Incomplete' }] : []),
            ...(hasNotes ? [{ title: 'Annotations' }] : []),
          ]}
        />
        <tbody>
          {on.map((_, offset) => {
            const index = on.length - 1 - offset
            return (
              <tr key={on[index]}>
                <th scope="row">
                  {graph.title(index)}
                  {isIncomplete(index) && <span class="quiet"> (incomplete)</span>}
                </th>
                {total && <td class="number">{format(total[index] ?? null)}</td>}
                {lines.map((line) => (
                  <td key={line.key} class="number">
                    {format(line.values[index] ?? null)}
                  </td>
                ))}
                {hasReasons && (
                  <td class="wordy">
                    <ReasonTexts reasons={reasonsAt?.(index) ?? []} />
                  </td>
                )}
                {hasNotes && <td class="wordy">{notes?.get(index)?.join('; ')}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}
