/** Compares the states of endpoints in a database with the attempts of their deliveries. */

/** An attempt. `at` and `ended_at` by the clock of this machine; the end of one without an answer is not known exactly. */
export type Attempt = {
  delivery_id: number
  number: number
  at: number
  ended_at: number
  status: number | null
  kind: string
}

type Endpoint = { state: string; reason: string | null; failures: number }

const FAILURES_UNTIL_FAILING = 5
const GONE_AGAIN_MS = 60_000
/** Attempts that ended within this time of one another can be stored in either order. */
const UNORDERED_MS = 2_000

export const isAccepted = ({ status }: { status: number | null }): boolean =>
  status !== null && status >= 200 && status < 300

/** Whether an attempt says that the endpoint does not work: no answer, too many requests, a server's error, a redirect. */
const isOfEndpoint = ({ status, kind }: Attempt): boolean =>
  kind !== 'stopped' &&
  (status === null || status === 429 || status >= 500 || (status >= 300 && status < 400))

/** The least and the most failures in a row at the end, because the order of attempts at the same time is not known. */
function failuresIn(attempts: readonly Attempt[]): { least: number; most: number } {
  const accepted_at = Math.max(0, ...attempts.filter(isAccepted).map(({ ended_at }) => ended_at))
  const failedAfter = (instant: number): number =>
    attempts.filter((attempt) => isOfEndpoint(attempt) && attempt.ended_at > instant).length
  return {
    least: accepted_at === 0 ? failedAfter(0) : failedAfter(accepted_at + UNORDERED_MS),
    most: failedAfter(accepted_at - UNORDERED_MS),
  }
}

/**
 * Whether the receiver said that it is gone, and again a minute later without a success in between; null if the minute is
 * too near to tell.
 */
function isGone(attempts: readonly Attempt[]): boolean | null {
  let gone_at: number | null = null
  let longest = 0
  for (const attempt of attempts) {
    if (isAccepted(attempt)) gone_at = null
    if (attempt.status !== 410) continue
    longest = Math.max(longest, attempt.ended_at - (gone_at ?? attempt.ended_at))
    gone_at ??= attempt.ended_at
  }
  return Math.abs(longest - GONE_AGAIN_MS) < UNORDERED_MS ? null : longest > GONE_AGAIN_MS
}

/** What is wrong with the state of an endpoint, given all attempts in the order of their ends. */
export function faultsOfState({ state, reason, failures }: Endpoint, attempts: readonly Attempt[]): string[] {
  const gone = isGone(attempts)
  const isDisabled = state === 'disabled' && reason === 'gone_410'
  if (gone === true && !isDisabled) return [`answered 410 again after a minute, and is ${state}`]
  if (gone !== false && isDisabled) return []
  if (state === 'paused' || state === 'disabled') return [`is ${state}: ${reason}`]
  const { least, most } = failuresIn(attempts)
  const row = least === most ? String(least) : `${least} to ${most}`
  const isRight = state === 'failing' ? most >= FAILURES_UNTIL_FAILING : least < FAILURES_UNTIL_FAILING
  return [
    ...(isRight ? [] : [`is ${state} after ${row} failures in a row`]),
    ...(failures >= least && failures <= most
      ? []
      : [`counts ${failures} failures in a row, and there were ${row}`]),
  ]
}
