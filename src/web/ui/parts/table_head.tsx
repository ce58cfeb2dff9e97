/** The header row of a table. */
import type { ComponentChildren, JSX } from 'preact'

/** Numbers and their headings are right-aligned. */
type TableHeading = { title: ComponentChildren; isNumber?: boolean; class?: string }

export const TableHead = ({ headings }: { headings: readonly TableHeading[] }): JSX.Element => (
  <thead>
    <tr>
      {headings.map(({ title, isNumber, class: className }, index) => (
        <th
          key={index}
          scope="col"
          class={[isNumber ? 'number' : '', className].filter(Boolean).join(' ') || undefined}
        >
          {title}
        </th>
      ))}
    </tr>
  </thead>
)
