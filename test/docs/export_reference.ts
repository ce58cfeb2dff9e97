/** The generated part of docs/export.md: one section for each exported table. */
import type { ExportTable } from '../../src/exports/tables/table.ts'
import { EXPORT_TABLES } from '../../src/exports/tables/tables.ts'

const TRACKING: Readonly<Record<ExportTable['tracking']['kind'], string>> = {
  whole: 'Each export has the whole table.',
  logged: 'An export with a cursor has the changed and deleted rows.',
  appended: 'An export with a cursor has the added rows, and the changed ones.',
}

/** Every table with its columns, as Markdown. */
export const exportReference = (): string => EXPORT_TABLES.map(section).join('\n\n')

function section({ name, about, columns, key, tracking }: ExportTable): string {
  const rows = columns.map((column) => {
    const written = key.includes(column.name) ? `**\`${column.name}\`**` : `\`${column.name}\``
    return `| ${written} | ${column.type} | ${column.about.replaceAll('|', '\\|')} |`
  })
  return [
    `### ${name}`,
    '',
    `${about} ${TRACKING[tracking.kind]}`,
    '',
    '| column | type | |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}
