/**
 * Findings about endpoints: failing, paused, disabled, unreadable secrets, errors of this server, events that wait for over
 * an hour, and deliveries that were given up.
 */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { type Finding, type FindingDetails, fault, notice, warning } from '../../health/findings.ts'
import type { Health } from '../deliveries/log.ts'
import type { LossCount } from '../deliveries/losses.ts'
import { MAX_WAITING } from '../sending/filling.ts'
import type { Trouble } from '../sending/troubles.ts'
import { DECLARED } from './administration.ts'
import { type Endpoint, type StateReason, unreadableLists } from './endpoints.ts'

const HOUR_MS = 3_600_000

type Deps = {
  clock: Clock
  list: () => readonly Endpoint[]
  healthOf: (endpoint: Endpoint) => Health
  lostOf: (endpoint_id: string) => LossCount
  isFull: (endpoint: Endpoint) => boolean
  troubleOf: (endpoint_id: string) => Trouble | null
}

/** Why an endpoint is in its state, and what to do, as text. */
const TEXTS: Readonly<Record<Exclude<StateReason, 'owner'>, string>> = {
  no_success: 'five requests in a row failed',
  five_days: 'it did not accept a request for five days. Repair it, then resume it',
  gone_410: 'it answered 410 Gone twice. Resume it if that was a mistake, otherwise delete it',
  secret_unreadable: 'its secret cannot be read. Restore windfall.key, or rotate the secret, then resume it',
  config_removed: 'it is no longer declared in config.toml. Declare it there again, or delete it',
}

/** Yields the findings about endpoints. */
export function* examineForwarding(deps: Deps): Generator<Finding> {
  const { clock, list, healthOf, lostOf, isFull, troubleOf } = deps
  for (const endpoint of list()) {
    const { id, name, state, reason, state_since } = endpoint
    const action = { label: 'Webhooks', href: `/settings/webhooks/${id}`, command: 'windfall webhooks list' }
    const details = { id: `webhooks:${id}`, since: state_since, about: name, action }
    const trouble = troubleOf(id)
    if (trouble !== null) yield errorFinding(endpoint, trouble, details)
    const unreadable = unreadableLists(endpoint)
    if (unreadable !== null) yield unreadableFinding(endpoint, unreadable, details)
    yield* examineLosses(endpoint, lostOf(id), details)
    if (state === 'disabled' || (state === 'paused' && reason === 'five_days')) {
      const words = `${name} is ${state} since ${utcMinuteText(state_since)}: ${reasonText(reason)}.`
      yield fault('webhooks', words, {
        ...details,
        ...lastAnswer(healthOf(endpoint)),
        title: `A webhook is ${state}`,
      })
    } else if (state === 'failing') {
      yield failingFinding(endpoint, healthOf(endpoint), details)
    } else if (state === 'paused') {
      const words = `${name} is paused since ${utcMinuteText(state_since)}; events wait until you resume it`
      yield notice('webhooks', words, { ...details, title: 'A webhook is paused' })
    } else if (state === 'active') {
      const health = healthOf(endpoint)
      yield* examineBacklog(endpoint, health, { now: clock(), details, isFull })
    }
  }
}

/**
 * Yields a warning for each active endpoint of which many requests fail. It counts for the verdict alone: every event
 * arrives, some of them late, so it is no trouble to announce.
 */
export function* examineSteadiness({ list, healthOf }: Pick<Deps, 'list' | 'healthOf'>): Generator<Finding> {
  for (const endpoint of list()) {
    if (endpoint.state !== 'active') continue
    const { is_unsteady, attempts, succeeded } = healthOf(endpoint)
    if (!is_unsteady) continue
    const { id, name } = endpoint
    const percent = Math.round((100 * (attempts - succeeded)) / attempts)
    const words = `${percent} % of the requests to ${name} in the last seven days failed. Windfall repeats them, so events arrive late.`
    yield warning('webhooks', words, {
      id: `webhooks:${id}:unsteady`,
      about: name,
      title: 'Many requests to a webhook fail',
      remedy: 'Its deliveries in the dashboard, under Settings, Webhooks, show what the receiver answers.',
    })
  }
}

function failingFinding(endpoint: Endpoint, health: Health, details: FindingDetails): Finding {
  const { name, state_since, reason } = endpoint
  const words = `${name} is failing since ${utcMinuteText(state_since)}: ${reasonText(reason)}.`
  const command = `windfall webhooks retry ${name}`
  return warning('webhooks', words, {
    ...details,
    ...lastAnswer(health),
    title: 'A webhook is failing',
    remedy: `Repair the receiver, then run ${command}. Windfall itself tries one event at a time, at most an hour apart; the first success sends everything.`,
    action: { ...details.action, label: 'Webhooks', command },
  })
}

/** What the last failed attempt met, and when the next one is. */
function lastAnswer({ last_failure_words, next_attempt_at }: Health): Pick<FindingDetails, 'quote'> {
  if (last_failure_words === null) return {}
  const next = next_attempt_at === null ? '' : ` The next attempt is at ${utcMinuteText(next_attempt_at)}.`
  return { quote: `Last answer: ${last_failure_words}${next}` }
}

function errorFinding({ id, name }: Endpoint, { since, reason }: Trouble, details: FindingDetails): Finding {
  const words = `Nothing is sent to ${name} since ${utcMinuteText(since)}, because this server cannot store results: ${reason}.`
  const remedy = 'The log has details. Sending goes on by itself when results can be stored.'
  return fault('webhooks', words, {
    ...details,
    id: `webhooks:${id}:error`,
    since,
    title: 'Forwarding stands',
    remedy,
  })
}

function unreadableFinding({ name, source }: Endpoint, lists: string[], details: FindingDetails): Finding {
  const words = `Nothing is sent to ${name}, because its ${lists.join(' and ')} cannot be read in the database. Its events wait.`
  const remedy =
    source === DECLARED
      ? 'Run windfall reload, which sets them as config.toml declares them.'
      : 'Set them again: on its page, or with PATCH /api/v1/endpoints/{id}.'
  return fault('webhooks', words, {
    ...details,
    id: `${details.id}:unreadable`,
    title: 'A webhook cannot be read',
    remedy,
  })
}

function* examineLosses(
  { id, name }: Endpoint,
  { count, first_at, last_at }: LossCount,
  details: FindingDetails,
): Generator<Finding> {
  if (first_at === null || last_at === null) return
  const at = utcMinuteText(first_at)
  const words =
    count === 1
      ? `1 delivery to ${name} was given up at ${at}.`
      : `${count.toLocaleString('en-US')} deliveries to ${name} were given up since ${at}.`
  const command = `windfall webhooks replay ${name} --failed`
  const remedy = `Repair the receiver and send them again with ${command}, or dismiss them with windfall webhooks dismiss ${name}.`
  yield warning('webhooks', words, {
    ...details,
    id: `webhooks:${id}:lost`,
    since: first_at,
    title: 'Events were given up',
    end_title: 'Given-up events were sent again or dismissed',
    // They waited, or their endpoint was failing, until then.
    remains: { of: details.id, at: last_at },
    remedy: count === 1 ? remedy.replaceAll('them', 'it') : remedy,
    action: { ...details.action, label: 'Webhooks', command },
  })
}

function fullFinding({ name }: Endpoint, details: FindingDetails): Finding {
  const count = MAX_WAITING.toLocaleString('en-US')
  const words = `${count} events that ${name} did not accept are tried again, so newer ones wait for them.`
  const remedy = `Repair the receiver: newer events follow as soon as it accepts these. To skip everything that waits instead, run windfall webhooks pause ${name}, then windfall webhooks resume ${name} --from-now.`
  const title = 'A webhook refuses too many events'
  return fault('webhooks', words, { ...details, title, remedy })
}

const reasonText = (reason: StateReason | null): string =>
  reason === null || reason === 'owner' ? '' : TEXTS[reason]

function* examineBacklog(
  endpoint: Endpoint,
  { waiting, is_waiting_capped, oldest_waiting_at, hold_until_at }: Health,
  { now, details, isFull }: { now: number; details: FindingDetails } & Pick<Deps, 'isFull'>,
): Generator<Finding> {
  const { name } = endpoint
  // Only then can there be so many rows.
  if (is_waiting_capped && isFull(endpoint)) {
    yield fullFinding(endpoint, { ...details, since: oldest_waiting_at })
    return
  }
  if (oldest_waiting_at === null || now - oldest_waiting_at < HOUR_MS) return
  const count = is_waiting_capped ? `more than ${waiting}` : String(waiting)
  const events = waiting === 1 ? `1 event waits for ${name}` : `${count} events wait for ${name}, the oldest`
  const hold =
    hold_until_at === null ? '' : `. The receiver asked to wait until ${utcMinuteText(hold_until_at)}`
  const words = `${events} since ${utcMinuteText(oldest_waiting_at)}${hold}`
  const title = 'Events wait for a webhook'
  yield warning('webhooks', words, { ...details, since: oldest_waiting_at, title })
}
