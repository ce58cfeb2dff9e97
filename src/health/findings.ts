/** Defines findings: faults, warnings and notices. Each states what to do. */

/** The remedy of a finding: a command to run, or a page of the dashboard. */
type Action = { label: string; command?: string; href?: string }

/** The fields for the dashboard. `id` does not change while the finding lasts; `since` is in ms since the epoch. */
export type FindingDetails = {
  id: string
  /** The same for findings that alerts tell as one; the id if it is absent. */
  alert_id?: string
  /** What to do, as sentences after the text. */
  remedy?: string
  /** What the text quotes from requests or facts, as a sentence after the text. A support bundle leaves it out. */
  quote?: string
  /** The cause in the words of the log, which only those who look for it read. */
  cause?: string
  title?: string
  app_id?: string
  organization_id?: string
  action?: Action
  since?: number | null
  progress?: { done: number; of: number }
  /** The finding is what remains of another, by its id, since `at` in ms: the end of that one is no good news. */
  remains?: { of: string; at: number }
  /** The title of the message about the end of the finding, unless it is `Over: ` and the title. */
  end_title?: string
  /** The name of what the finding is about. The message about its end has it in place of the text. */
  about?: string
}

/**
 * A finding. `fault`: something does not work. `warning`: something is missing, or will soon not work. `notice`: good
 * to know. `ok`: a check that passed.
 */
export type Finding = {
  state: 'ok' | 'notice' | 'warning' | 'fault'
  subject: string
  text: string
  details?: FindingDetails
}

/** The whole text of a finding: what is the case, what it quotes, and what to do. */
export const textOfFinding = ({ text, details }: Finding): string =>
  [text, details?.quote, details?.remedy].filter((part) => part !== undefined).join(' ')

const finding =
  (state: Finding['state']) =>
  (subject: string, text: string, details?: FindingDetails): Finding => ({
    state,
    subject,
    text,
    ...(details && { details }),
  })

export const ok = finding('ok')
export const notice = finding('notice')
export const warning = finding('warning')
export const fault = finding('fault')

const MINUTE_MS = 60_000

/** The time since `at` as text, in minutes, hours or days: `3 hours ago`. Both arguments are in ms since the epoch. */
export const ago = (at: number, now: number): string =>
  Math.round((now - at) / MINUTE_MS) < 2 ? 'just now' : `${durationText(now - at)} ago`

/** A duration in ms as text, in minutes, hours or days, and at least a minute: `3 hours`. */
export function durationText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS))
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} hours`
  return `${Math.round(minutes / (24 * 60))} days`
}
