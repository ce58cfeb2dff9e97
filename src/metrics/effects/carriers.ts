/** Assigns each MRR movement of a lineage to the event that tells it, so that no movement has two events. */
import type { EventType } from '../../events/vocabulary.ts'
import type { Movement, MovementKind, ValuedSegment } from '../lineage/movements.ts'
import type { TransactionFact } from '../lineage/timeline.ts'

/** An event of a lineage. `transaction_id` is null unless its charge has another instant than the event. */
export type LineageEvent = { seq: number; type: string; occurred_at: number; transaction_id: string | null }

/**
 * The change of the lineage’s MRR that an event tells, in thousandths of the base currency. `at`: the instant at which the
 * metrics count it. `base_milli`: null if a price or rate is unknown, or `at` is in the future. `before_milli` and
 * `after_milli`: the MRR of the lineage directly before and after. `kind`: the greatest movement; null without one.
 */
export type MrrEffect = {
  kind: MovementKind | null
  at: number
  /** The base currency. */
  currency: string
  base_milli: number | null
  before_milli: number | null
  after_milli: number | null
  movements: Pick<Movement, 'kind' | 'currency' | 'milli' | 'base_milli'>[]
}

/** Everything that the effects of one lineage depend on. `events` are in the order of the feed. */
type LineageHistory = {
  events: readonly LineageEvent[]
  transactions: readonly Pick<TransactionFact, 'transaction_id' | 'purchased_at'>[]
  segments: readonly ValuedSegment[]
  movements: readonly Movement[]
}

/** Events at the instant of a charge. */
const CHARGES: readonly EventType[] = [
  'trial.started',
  'trial.converted',
  'subscription.started',
  'subscription.renewed',
  'subscription.recovered',
  'subscription.resubscribed',
  'subscription.upgraded',
]
/** Events of a charge at another instant: when Apple signed the notification. */
export const LATER_CHARGES: readonly EventType[] = ['subscription.offer_redeemed', 'subscription.migrated']
/** The feed hides it by default, so any other event of the charge comes first. */
const RECORDED: EventType = 'transaction.recorded'
const ENDS: readonly EventType[] = [
  'subscription.expired',
  'subscription.grace_ended',
  'subscription.refunded',
  'subscription.revoked',
]
const BILLING_FAILED: EventType = 'subscription.billing_failed'
/** The types that can change MRR. */
export const CARRIER_TYPES: readonly string[] = [
  ...CHARGES,
  ...LATER_CHARGES,
  RECORDED,
  ...ENDS,
  BILLING_FAILED,
]

/** Apple first retries a payment within a day of the renewal date. */
const RETRY_MS = 86_400_000

/** The movements of one instant, and the level of the lineage before and after. */
type Step = {
  at: number
  transaction_id: string
  isEnd: boolean
  movements: Movement[]
  before_milli: number | null
  after_milli: number | null
}

/**
 * The effects of a lineage’s events, by seq. Over all events, each movement occurs at most once. The end of paid time has
 * no event if Apple sent none.
 */
export function effectsOf(
  history: LineageHistory,
  { currency, now }: { currency: string; now: number },
): Map<number, MrrEffect> {
  const steps = stepsOf(history)
  const stepBySeq = new Map<number, Step>()
  for (const step of steps) {
    const carrier = candidatesOf(step, history).find(({ seq }) => !stepBySeq.has(seq))
    if (carrier) stepBySeq.set(carrier.seq, step)
  }
  return new Map(
    history.events.map(({ seq, occurred_at }) => {
      const step = stepBySeq.get(seq)
      return [seq, { currency, ...(step ? effectOf(step, now) : unchanged(steps, occurred_at)) }]
    }),
  )
}

const isChurn = ({ kind }: Movement): boolean => kind.startsWith('churn_')

/** Groups movements by instant; they are in order. */
function stepsOf({ movements, segments }: LineageHistory): Step[] {
  const levels = new Map(segments.map((one) => [one.transaction_id, knownLevel(one)]))
  const steps: Step[] = []
  let level: number | null = 0
  for (const movement of movements) {
    const { at, transaction_id } = movement
    const isEnd = isChurn(movement)
    const last = steps.at(-1)
    if (last && last.at === at && last.isEnd === isEnd) {
      last.movements.push(movement)
      continue
    }
    const after_milli: number | null = isEnd ? 0 : (levels.get(transaction_id) ?? null)
    steps.push({ at, transaction_id, isEnd, movements: [movement], before_milli: level, after_milli })
    level = after_milli
  }
  return steps
}

const knownLevel = ({ level }: ValuedSegment): number | null =>
  level.isUnknown || !level.isConverted ? null : level.base_milli

/** The events that can tell a step, the best one first. */
function candidatesOf(step: Step, { events, transactions }: LineageHistory): LineageEvent[] {
  if (step.isEnd) {
    const failures = events.filter(({ type }) => type === BILLING_FAILED && isBilling(step))
    return [
      ...failures.filter(({ occurred_at }) => Math.abs(occurred_at - step.at) <= RETRY_MS),
      ...events.filter(({ type, occurred_at }) => isIn(ENDS, type) && occurred_at === step.at),
    ]
  }
  const fact = transactions.find(({ transaction_id }) => transaction_id === step.transaction_id)
  const atCharge = events.filter(({ occurred_at }) => occurred_at === fact?.purchased_at)
  return [
    ...atCharge.filter(({ type }) => isIn(CHARGES, type)),
    ...events.filter(
      ({ type, transaction_id }) => isIn(LATER_CHARGES, type) && transaction_id === step.transaction_id,
    ),
    ...atCharge.filter(({ type }) => type === RECORDED),
  ]
}

const isIn = (types: readonly EventType[], type: string): boolean =>
  (types as readonly string[]).includes(type)
const isBilling = ({ movements }: Step): boolean => movements.some(({ kind }) => kind === 'churn_billing')

function effectOf(
  { at, movements, before_milli, after_milli }: Step,
  now: number,
): Omit<MrrEffect, 'currency'> {
  const isKnown = at <= now && !movements.some(isUnknown)
  return {
    kind: greatestOf(movements).kind,
    at,
    base_milli: isKnown ? movements.reduce((sum, { base_milli }) => sum + (base_milli ?? 0), 0) : null,
    before_milli,
    after_milli,
    movements: movements.map(({ kind, currency, milli, base_milli }) => ({
      kind,
      currency,
      milli,
      base_milli,
    })),
  }
}

/** Whether the price or the rate of a movement is unknown. */
const isUnknown = ({ kind, currency, base_milli, count }: Movement): boolean =>
  base_milli === null || (kind !== 'fx' && currency === null && count !== 0)

/** The movement with the greatest change; among equal ones not the rate’s. */
function greatestOf(movements: readonly Movement[]): Movement {
  const sizeOf = ({ kind, base_milli }: Movement) => (kind === 'fx' ? -1 : Math.abs(base_milli ?? 0))
  return movements.reduce((greatest, one) => (sizeOf(one) > sizeOf(greatest) ? one : greatest))
}

function unchanged(steps: readonly Step[], at: number): Omit<MrrEffect, 'currency'> {
  const level = steps.findLast((step) => step.at <= at)?.after_milli
  const level_milli = level === undefined ? 0 : level
  return { kind: null, at, base_milli: 0, before_milli: level_milli, after_milli: level_milli, movements: [] }
}
