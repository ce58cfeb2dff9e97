/** Findings about parts of the program that an error has stopped. */
import type { Clock } from '../clock.ts'
import type { Stoppage } from '../stoppages.ts'
import { ago, type Finding, fault } from './findings.ts'

const WHAT_TO_DO =
  'Windfall tries again by itself. If that does not help, restart it, and please report this as a bug.'

/** A fault for each part that an error has stopped. */
export const stoppageFindings = (stoppages: readonly Stoppage[], clock: Clock): Finding[] =>
  stoppages.map(({ id, part, title, subject, reason, since, times }) => {
    const of = subject === null ? title : `${title} (${subject})`
    const often = times === 1 ? 'once' : `${times} times`
    const words = `it failed ${often} since ${ago(since, clock())}. The last error: ${reason}.`
    return fault(part, words, { id, title: of, since, remedy: WHAT_TO_DO })
  })
