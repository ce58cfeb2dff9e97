/** The notifications that the simulated store has sent, for its notification history. */
import { createHash } from 'node:crypto'
import type { Environment } from '../../apple/payloads.ts'
import { DAY, HOUR } from './periods.ts'
import type { UnsignedNotification } from './unsigned.ts'

/** The depth of the notification history, and a small margin. */
const RETENTION_MS = 190 * DAY

export type Attempt = { at: number; result: string }

/** `attempts` without an end: those that have not happened yet are in it, too. */
export type SentNotification = {
  bundle_id: string
  environment: Environment
  payload: UnsignedNotification
  attempts: Attempt[]
}

/** Which notifications get lost: a share of those signed within a time. Milliseconds since the epoch. */
export type LossRule = { from?: number; until?: number; share?: number }

/** A number from 0 to 1 that belongs to a text. */
export function chanceOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE(0) / 4_294_967_296
}

function isLostUnder(rule: LossRule, { signedDate, notificationUUID }: UnsignedNotification): boolean {
  const within = signedDate >= (rule.from ?? -Infinity) && signedDate < (rule.until ?? Infinity)
  return within && chanceOf(`lost ${notificationUUID}`) < (rule.share ?? 1)
}

/** Apple tries again after so many hours; in the sandbox it does not. */
const RETRIES = [0, 1, 12, 24, 48, 72]

/** A lost notification was refused each time, or answered with 200 by something that was not the appliance. */
function lostAttempts(sent: SentNotification): Attempt[] {
  const [first] = sent.attempts
  const at = first?.at ?? sent.payload.signedDate
  if (chanceOf(`answered ${sent.payload.notificationUUID}`) < 0.4) return [{ at, result: 'SUCCESS' }]
  const tries = sent.environment === 'production' ? RETRIES : [0]
  return tries.map((hours) => ({ at: at + hours * HOUR, result: 'NO_RESPONSE' }))
}

export type SentLog = ReturnType<typeof openSentLog>

export function openSentLog() {
  const lists = new Map<string, SentNotification[]>()
  const rules: LossRule[] = []

  const isLost = (payload: UnsignedNotification) => rules.some((rule) => isLostUnder(rule, payload))

  function listOf(bundle_id: string, environment: Environment): SentNotification[] {
    const key = `${environment} ${bundle_id}`
    const list = lists.get(key) ?? []
    lists.set(key, list)
    return list
  }

  /** Drops old entries in portions, so most calls cost nothing. */
  function forget(list: SentNotification[]): void {
    const newest = list.at(-1)?.payload.signedDate ?? 0
    const oldest = list[1023]?.payload.signedDate ?? newest
    if (oldest < newest - RETENTION_MS) list.splice(0, 1024)
  }

  return {
    add(sent: SentNotification): void {
      const list = listOf(sent.bundle_id, sent.environment)
      list.push(sent)
      forget(list)
    },
    /** From now on, those never arrive. */
    lose: (rule: LossRule): void => void rules.push(rule),
    isLost,
    attemptsOf: (sent: SentNotification): Attempt[] =>
      isLost(sent.payload) ? lostAttempts(sent) : sent.attempts,
    /** What was signed between two instants, both included, in the order of signing. */
    between(bundle_id: string, environment: Environment, from: number, until: number): SentNotification[] {
      const found = listOf(bundle_id, environment).filter(
        ({ payload }) => payload.signedDate >= from && payload.signedDate <= until,
      )
      return found.sort((a, b) => a.payload.signedDate - b.payload.signedDate)
    },
    /** Everything still kept. */
    all: (): SentNotification[] => [...lists.values()].flat(),
    /** Every one that was lost, of those still kept. */
    lost: (): SentNotification[] => [...lists.values()].flat().filter(({ payload }) => isLost(payload)),
  }
}
