/** The command `windfall doctor`: what was found, a line each. */
import type { Finding } from '../../health/findings.ts'

const SUBJECT_WIDTH = 22

/** A finding as it is printed. */
export function findingLine({ state, subject, text }: Finding): string {
  return `${state.padEnd(7)}  ${subject.padEnd(SUBJECT_WIDTH)}  ${text.replaceAll('\n', `\n${' '.repeat(11)}`)}`
}
