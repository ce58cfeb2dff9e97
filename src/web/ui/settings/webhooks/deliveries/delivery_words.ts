/** Deliveries and attempts in words. */
import { bytes, count, duration, sentence } from '../../../words.ts'
import type { Attempt, Delivery, DeliverySummary } from '../webhook_queries.ts'

type State = DeliverySummary['state']

export const DELIVERY_STATES: Record<State, { title: string; tone: string; about: string }> = {
  waiting: { title: 'Waiting', tone: 'accent', about: 'It is sent when it is due.' },
  delivered: { title: 'Delivered', tone: 'good', about: 'The receiver responded with success.' },
  failed: { title: 'Failed', tone: 'bad', about: 'It is not tried again. It can be replayed.' },
  dropped: { title: 'Dropped', tone: '', about: 'It no longer matches the endpoint.' },
  skipped: { title: 'Skipped', tone: '', about: 'You continued without it. It can be replayed.' },
}

/** What the state of a delivery means. `isActive`: whether its endpoint is active. */
export function stateAbout({ state, reason }: Pick<Delivery, 'state' | 'reason'>, isActive: boolean): string {
  if (state === 'waiting' && !isActive) return 'It waits until the endpoint is active again.'
  return reason ?? DELIVERY_STATES[state].about
}

/** Receivers refuse timestamps beyond five minutes; a minute is worth a note. */
const CLOCK_MS = 60_000

/** A note if the receiver's clock differs by more than a minute; null otherwise. */
function clockNote(clock_ms: number | null): string | null {
  if (clock_ms === null || Math.abs(clock_ms) <= CLOCK_MS) return null
  const direction = clock_ms > 0 ? 'ahead of' : 'behind'
  return `The receiver’s clock is ${duration(Math.abs(clock_ms))} ${direction} this server’s. Receivers refuse a signature whose timestamp differs by more than five minutes. Set both clocks by NTP.`
}

/** The note of the last attempt that reported a clock. */
export const deliveryClockNote = ({ attempt_log }: Pick<Delivery, 'attempt_log'>): string | null =>
  clockNote(
    attempt_log.toSorted((one, other) => other.number - one.number).find(({ clock_ms }) => clock_ms !== null)
      ?.clock_ms ?? null,
  )

const KINDS: Record<string, string> = {
  address: 'Address not permitted',
  dns: 'Host not found',
  connect: 'No connection',
  refused: 'Connection refused',
  tls: 'TLS failed',
  timeout: 'Timed out',
  closed: 'Connection closed',
  invalid_response: 'Not an HTTP response',
}

/** The result of an attempt in a few words: its status, or why there was none. */
export function attemptTitle({ status, kind }: Pick<Attempt, 'status' | 'kind'>): string {
  if (status === null) return KINDS[kind] ?? sentence(kind.replaceAll('_', ' '))
  return kind === 'aborted' ? `${status}, aborted` : String(status)
}

/** Why a body is not shown. */
export function bodyNote({
  state,
  attempts,
  body_bytes,
}: Pick<Delivery, 'state' | 'attempts' | 'body_bytes'>): string {
  const isWaiting = state === 'waiting'
  if (body_bytes === null && attempts > 0)
    return `The body is no longer stored.${isWaiting ? ' It is made again before the next attempt.' : ''}`
  if (body_bytes === null)
    return isWaiting
      ? 'The body is made just before the first attempt.'
      : 'No attempt was made, so there is no body.'
  return `The body of ${bytes(body_bytes)} is no longer stored. It is kept for seven days after success.`
}

/** `1 attempt`, `3 attempts`. */
export const attemptsWords = (attempts: number): string =>
  attempts === 1 ? '1 attempt' : `${count(attempts)} attempts`
