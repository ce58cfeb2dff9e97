/** All exported tables, in the order of the documents and of an export. */
import { PEOPLE_TABLES } from './people.ts'
import { REPORT_TABLES } from './reports.ts'
import { SALES_TABLES } from './sales.ts'
import { SETTINGS_TABLES } from './settings.ts'
import type { ExportTable } from './table.ts'

export const EXPORT_TABLES: readonly ExportTable[] = [
  ...SALES_TABLES,
  ...PEOPLE_TABLES,
  ...SETTINGS_TABLES,
  ...REPORT_TABLES,
]
