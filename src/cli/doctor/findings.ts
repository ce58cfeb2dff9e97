/** Prints a finding of `windfall doctor` as one line. */
import type { Finding } from '../../health/findings.ts'

const SUBJECT_WIDTH = 22

/** A finding as text. */
export function findingLine({ state, subject, text }: Finding): string {
  return `${state.padEnd(7)}  ${subject.padEnd(SUBJECT_WIDTH)}  ${text.replaceAll('\n', `\n${' '.repeat(11)}`)}`
}
