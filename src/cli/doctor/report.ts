/** Prints the results of `windfall doctor`. */
import { type CheckResult, type CheckStatus, detailOf } from '../../doctor/result.ts'
import { withCommands } from '../../program/form.ts'
import { plural } from '../instance/instance.ts'

const TITLE_WIDTH = 26
const STATUS_WIDTH = 9

/** A result as text: one line for what was found and, unless there is nothing to do, one for what to do. */
export function resultText(result: CheckResult): string {
  const { status, title, remedy } = result
  const indent = ' '.repeat(STATUS_WIDTH)
  const detail = detailOf(result).replaceAll('\n', `\n${indent}`)
  const first = `${status.padEnd(STATUS_WIDTH)}${title.padEnd(TITLE_WIDTH)}  ${detail}`
  return remedy === null ? first : `${first}\n${indent}→ ${withCommands(remedy.replaceAll('`', ''))}`
}

type Counts = Record<CheckStatus, number>

/** The number of results of each status. */
export function countsOf(results: readonly CheckResult[]): Counts {
  const counts = { ok: 0, warning: 0, error: 0, skipped: 0 }
  for (const { status } of results) counts[status] += 1
  return counts
}

export const countsText = ({ error, warning, skipped }: Counts): string =>
  `${plural(error, 'error')}, ${plural(warning, 'warning')}, ${skipped} skipped.`
