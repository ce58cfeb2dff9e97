/** The states of an endpoint, and how attempts change them. Pure. */
import type { Progress } from '../endpoints/endpoints.ts'
import type { Outcome } from './outcome.ts'
import { probeDelayMs } from './schedule.ts'

const HOUR_MS = 3_600_000
/** This many failures in a row that concern the endpoint make it failing. */
const FAILURES_UNTIL_FAILING = 5
/** A failing endpoint is paused after this much uptime and this many probes without success. */
const PAUSE_AFTER_MS = 120 * HOUR_MS
const PAUSE_AFTER_PROBES = 20
/** A second 410 disables the endpoint if it comes at least this long after the first. */
const GONE_AGAIN_MS = 60_000

/** `up_ms`: the uptime of this process since the last failure in a row. */
type Attempt = Pick<Outcome, 'verdict' | 'status' | 'retry_after_ms'> & {
  is_probe: boolean
  up_ms: number
  now: number
}

/** The progress of an endpoint without failures, in a state since `now`. */
export const freshProgress = (
  state: Progress['state'],
  reason: Progress['reason'],
  now: number,
): Omit<Progress, 'last_success_at' | 'last_failure_at'> => ({
  state,
  reason,
  state_since: now,
  failures: 0,
  probes: 0,
  down_ms: 0,
  next_probe_at: null,
  hold_until_at: null,
  gone_at: null,
})

/** The progress of an endpoint after an attempt. A paused or disabled endpoint stays as it is. */
export function progressAfter(before: Progress, attempt: Attempt): Progress {
  const { verdict, now } = attempt
  const isSuccess = verdict === 'success'
  const seen = isSuccess ? { ...before, last_success_at: now } : { ...before, last_failure_at: now }
  if (before.state === 'paused' || before.state === 'disabled') return seen
  if (isSuccess) return afterSuccess(seen, now)
  const down_ms = before.failures === 0 ? 0 : before.down_ms + attempt.up_ms
  const held = { ...seen, down_ms, hold_until_at: holdUntil(before, attempt) }
  if (verdict === 'gone') return afterGone(held, attempt)
  return verdict === 'endpoint' ? afterFailure(held, attempt) : afterProbe(held, attempt)
}

function afterSuccess(before: Progress, now: number): Progress {
  const { state_since, last_success_at, last_failure_at, hold_until_at } = before
  const since = before.state === 'active' ? state_since : now
  // Another answer that came meanwhile may have asked to wait.
  return { ...freshProgress('active', null, since), last_success_at, last_failure_at, hold_until_at }
}

/** A receiver that limits its rate or is unavailable may ask for a pause of all requests. */
function holdUntil({ hold_until_at }: Progress, { status, retry_after_ms, now }: Attempt): number | null {
  if (retry_after_ms === null || (status !== 429 && status !== 503)) return hold_until_at
  return Math.max(hold_until_at ?? 0, now + retry_after_ms)
}

function afterGone(before: Progress, attempt: Attempt): Progress {
  const { now } = attempt
  if (before.gone_at !== null && now - before.gone_at >= GONE_AGAIN_MS)
    return { ...before, ...freshProgress('disabled', 'gone_410', now) }
  return afterProbe({ ...before, gone_at: before.gone_at ?? now }, attempt)
}

function afterFailure(before: Progress, attempt: Attempt): Progress {
  const failures = before.failures + 1
  const failing = { ...before, failures }
  if (before.state === 'failing') return afterProbe(failing, attempt)
  if (failures < FAILURES_UNTIL_FAILING) return failing
  const { now } = attempt
  const next_probe_at = now + probeDelayMs(0)
  return { ...failing, state: 'failing', reason: 'no_success', state_since: now, probes: 0, next_probe_at }
}

/** Schedules the next probe after a probe without success, or pauses the endpoint. */
function afterProbe(before: Progress, { is_probe, now }: Attempt): Progress {
  if (before.state !== 'failing' || !is_probe) return before
  const probes = before.probes + 1
  return pausedIfLong({ ...before, probes, next_probe_at: now + probeDelayMs(probes) }, now)
}

function pausedIfLong(before: Progress, now: number): Progress {
  if (before.down_ms < PAUSE_AFTER_MS || before.probes < PAUSE_AFTER_PROBES) return before
  return { ...before, ...freshProgress('paused', 'five_days', now) }
}
