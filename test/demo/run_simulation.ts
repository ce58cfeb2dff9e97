/** Unsigned histories for tests of the simulated App Store. Signing takes most of the time of a simulation. */
import { openSimulation, type SimulationOptions } from '../../src/demo/simulation.ts'
import type { Step } from '../../src/demo/world/steps.ts'
import type { RenewalBody, TransactionBody, UnsignedNotification } from '../../src/demo/world/unsigned.ts'

export const FROM = Date.UTC(2024, 2, 1)
export const UNTIL = Date.UTC(2026, 2, 1)
export const DAY = 86_400_000

/** An authority that does not sign. */
export const unsigned = { sign: (payload: object) => `unsigned ${Object.keys(payload).length}` }

type NotificationStep = Extract<Step, { kind: 'notification' }>

export function open(options: Partial<SimulationOptions> = {}) {
  return openSimulation({ seed: 1, from: FROM, until: UNTIL, authority: unsigned, ...options })
}

/** Simulates a complete history. */
export function play(options: Partial<SimulationOptions> = {}) {
  const simulation = open(options)
  const steps = [...simulation.steps()]
  return { ...simulation, steps, notifications: notificationsOf(steps) }
}

export function notificationsOf(steps: readonly Step[]): NotificationStep[] {
  return steps.filter((step) => step.kind === 'notification')
}

export function nameOf(payload: UnsignedNotification): string {
  return `${payload.notificationType}/${payload.subtype ?? '-'}`
}

export type AboutTransaction = {
  payload: UnsignedNotification
  transaction: TransactionBody
  renewal: RenewalBody | undefined
  status: number | undefined
}

/** The notifications about a transaction, each once, in the order of signing. */
export function aboutTransactions(steps: readonly NotificationStep[]): AboutTransaction[] {
  const seen = new Map<string, AboutTransaction>()
  for (const { payload } of steps) {
    const { signedTransactionInfo: transaction, signedRenewalInfo: renewal, status } = payload.data ?? {}
    if (transaction) seen.set(payload.notificationUUID, { payload, transaction, renewal, status })
  }
  return [...seen.values()].sort((a, b) => a.payload.signedDate - b.payload.signedDate)
}
