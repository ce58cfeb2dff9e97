/** The notifications that the simulated store has sent, for its notification history. */
import { createHash } from 'node:crypto'
import type { Environment } from '../../apple/payloads.ts'
import { DAY_MS, HOUR_MS } from './periods.ts'
import type { UnsignedNotification } from './unsigned.ts'

/** The depth of Apple's notification history, which is 180 days, with a margin. */
const RETENTION_MS = 190 * DAY_MS

export type Attempt = { at: number; result: string }

/** A notification of the store. `attempts` also contains delivery attempts in the future. */
export type SentNotification = {
  bundle_id: string
  environment: Environment
  payload: UnsignedNotification
  attempts: Attempt[]
}

/** Selects lost notifications: a `fraction` of those signed from `from` until `until` (ms since the epoch). */
export type LossRule = { from?: number; until?: number; fraction?: number }

/** A number from 0 to 1 that depends only on `text`. */
export function chanceOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE(0) / 4_294_967_296
}

function isLostUnder(rule: LossRule, { signedDate, notificationUUID }: UnsignedNotification): boolean {
  const isInRange = signedDate >= (rule.from ?? -Infinity) && signedDate < (rule.until ?? Infinity)
  return isInRange && chanceOf(`lost ${notificationUUID}`) < (rule.fraction ?? 1)
}

/** The delivery attempts of Apple in production, in hours after the first. The sandbox does not retry. */
const ATTEMPT_HOURS = [0, 1, 12, 24, 48, 72]

/** The attempts of a lost notification: none got a response, or another program answered the first with 200. */
function lostAttempts(sent: SentNotification): Attempt[] {
  const [first] = sent.attempts
  const at = first?.at ?? sent.payload.signedDate
  if (chanceOf(`answered ${sent.payload.notificationUUID}`) < 0.4) return [{ at, result: 'SUCCESS' }]
  const attemptHours = sent.environment === 'production' ? ATTEMPT_HOURS : [0]
  return attemptHours.map((hours) => ({ at: at + hours * HOUR_MS, result: 'NO_RESPONSE' }))
}

export type SentLog = ReturnType<typeof openSentLog>

export function openSentLog() {
  const listByApp = new Map<string, SentNotification[]>()
  const rules: LossRule[] = []

  const isLost = (payload: UnsignedNotification) => rules.some((rule) => isLostUnder(rule, payload))

  function listOf(bundle_id: string, environment: Environment): SentNotification[] {
    const key = `${environment} ${bundle_id}`
    const list = listByApp.get(key) ?? []
    listByApp.set(key, list)
    return list
  }

  /** Removes old entries 1024 at a time, so that most calls cost nothing. */
  function pruneOld(list: SentNotification[]): void {
    const newest = list.at(-1)?.payload.signedDate ?? 0
    const oldest = list[1023]?.payload.signedDate ?? newest
    if (oldest < newest - RETENTION_MS) list.splice(0, 1024)
  }

  return {
    add(sent: SentNotification): void {
      const list = listOf(sent.bundle_id, sent.environment)
      list.push(sent)
      pruneOld(list)
    },
    /** From now on, notifications that match `rule` are not delivered. */
    lose: (rule: LossRule): void => void rules.push(rule),
    isLost,
    attemptsOf: (sent: SentNotification): Attempt[] =>
      isLost(sent.payload) ? lostAttempts(sent) : sent.attempts,
    /** The notifications that were signed between two instants, both inclusive, in the order of signing. */
    between(bundle_id: string, environment: Environment, from: number, until: number): SentNotification[] {
      const matching = listOf(bundle_id, environment).filter(
        ({ payload }) => payload.signedDate >= from && payload.signedDate <= until,
      )
      return matching.sort((a, b) => a.payload.signedDate - b.payload.signedDate)
    },
    /** All notifications that are still in the log. */
    all: (): SentNotification[] => [...listByApp.values()].flat(),
    /** All lost notifications that are still in the log. */
    lost: (): SentNotification[] => [...listByApp.values()].flat().filter(({ payload }) => isLost(payload)),
  }
}
