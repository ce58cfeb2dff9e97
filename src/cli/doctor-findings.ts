/** The command `windfall doctor`: what was found, a line each. */

/** `fault`: something does not work. `warning`: something is missing, or will not work for long. */
export type Finding = { state: 'ok' | 'warning' | 'fault'; subject: string; words: string }

const finding =
  (state: Finding['state']) =>
  (subject: string, words: string): Finding => ({ state, subject, words })

export const ok = finding('ok')
export const warning = finding('warning')
export const fault = finding('fault')

const SUBJECT_WIDTH = 22

/** A finding as it is printed. */
export function findingLine({ state, subject, words }: Finding): string {
  return `${state.padEnd(7)}  ${subject.padEnd(SUBJECT_WIDTH)}  ${words.replaceAll('\n', `\n${' '.repeat(11)}`)}`
}

const MINUTE_MS = 60_000

/** How long ago something was, in the unit in which people say it. */
export function ago(at: number, now: number): string {
  const minutes = Math.max(0, Math.round((now - at) / MINUTE_MS))
  if (minutes < 2) return 'just now'
  if (minutes < 120) return `${minutes} minutes ago`
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} hours ago`
  return `${Math.round(minutes / (24 * 60))} days ago`
}
