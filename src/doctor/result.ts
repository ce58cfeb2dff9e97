/** Defines checks and their results. Each result that is not `ok` says what to do. */
import type { Finding } from '../health/findings.ts'

/**
 * `ok`: nothing to do. `warning`: something is missing, or will soon not work. `error`: something does not work.
 * `skipped`: the check could not run; `detail` says why.
 */
export type CheckStatus = 'ok' | 'warning' | 'error' | 'skipped'

/** What a check found. */
export type Outcome = {
  status: CheckStatus
  detail: string
  /** What to do; null if there is nothing to do. */
  remedy: string | null
  /** What the outcome quotes from requests or facts. A support bundle leaves it out. */
  quote?: string
  /** What the outcome is about, if a check has several outcomes, such as the name of a job. */
  subject?: string
  /** Replaces the title of the check. */
  title?: string
}

/** The result of a check. `id` is unique among the results of one examination. */
export type CheckResult = {
  id: string
  title: string
  status: CheckStatus
  detail: string
  remedy: string | null
  quote: string | null
}

type Details = Pick<Outcome, 'subject' | 'title' | 'quote'>

export const ok = (detail: string, details: Details & { remedy?: string } = {}): Outcome => ({
  status: 'ok',
  detail,
  remedy: null,
  ...details,
})
export const warning = (detail: string, remedy: string, details: Details = {}): Outcome => ({
  status: 'warning',
  detail,
  remedy,
  ...details,
})
export const error = (detail: string, remedy: string, details: Details = {}): Outcome => ({
  status: 'error',
  detail,
  remedy,
  ...details,
})
export const skipped = (detail: string, remedy: string | null = null, details: Details = {}): Outcome => ({
  status: 'skipped',
  detail,
  remedy,
  ...details,
})

const STATUSES = { ok: 'ok', notice: 'ok', warning: 'warning', fault: 'error' } as const

/** The outcome for a finding. A finding without a remedy of its own has the command or the page of its action. */
export function outcomeOf({ state, text, details }: Finding, more: Details = {}): Outcome {
  const { quote, remedy, action, cause } = details ?? {}
  const command = action?.command === undefined ? undefined : `${action.label}: \`${action.command}\``
  return {
    status: STATUSES[state],
    detail: sentence(cause === undefined ? text : `${text} The cause: ${cause}`),
    remedy: remedy ?? command ?? null,
    ...(quote !== undefined && { quote }),
    ...more,
  }
}

/** The result of an outcome of a check. */
export const resultOf = ({ id, title }: { id: string; title: string }, outcome: Outcome): CheckResult => ({
  id: outcome.subject === undefined ? id : `${id}:${outcome.subject}`,
  title: outcome.title ?? title,
  status: outcome.status,
  detail: outcome.detail,
  remedy: outcome.remedy,
  quote: outcome.quote ?? null,
})

/** The whole detail of a result, with what it quotes. */
export const detailOf = ({ detail, quote }: CheckResult): string =>
  quote === null ? detail : `${detail} ${quote}`

/** A text as a sentence. A text that begins with a name, such as a bundle id, keeps its first letter. */
const sentence = (text: string): string => {
  const isNameFirst = /^[a-z]+[./_:]/.test(text)
  const begun = isNameFirst ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  return /[.!?)`]$/.test(begun) ? begun : `${begun}.`
}
