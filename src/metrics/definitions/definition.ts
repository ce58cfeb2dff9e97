/** Defines the type of metric definitions, and values that many definitions share. */
import type { Basis } from '../../money.ts'

/** money: thousandths of a currency. ratio: an answer has the numerator and the denominator too. */
export type Unit = 'money' | 'count' | 'ratio'

/** level: the value at the end of a day, week or month. flow: the total within a day, week or month. */
export type Kind = 'level' | 'flow'

export type Split = 'app' | 'product' | 'country' | 'period' | 'offer' | 'currency'
export type Filter = Split | 'attribute'

export type Labelled = { name: string; title: string; sentence: string }

/** Describes a figure in a sentence and a formula. */
export type Description = Labelled & { formula: string }

/** The definition of a metric, for clients that show it. Requests and answers use the names in `parts` and `views`. */
export type Definition = Description & {
  unit: Unit
  /** The unit of a ratio’s numerator and denominator; null if the metric is not a ratio. */
  ratio_of: 'money' | 'count' | null
  kind: Kind
  parts: readonly Labelled[]
  views: readonly Labelled[]
  splits: readonly Split[]
  filters: readonly Filter[]
  bases: readonly Basis[]
  /** Whether a request can count refunds on the day of the purchase. */
  has_refund_days: boolean
}

/** Builds a `Labelled`. */
export const term = (name: string, title: string, sentence: string): Labelled => ({ name, title, sentence })

export const BY_SUBSCRIPTION = {
  splits: ['app', 'product', 'country', 'period', 'offer', 'currency'],
  filters: ['app', 'product', 'country', 'period', 'offer', 'currency', 'attribute'],
} as const
/** Has no split by currency, because a movement between two currencies belongs to neither of them. */
export const BY_MOVEMENT = {
  splits: ['app', 'product', 'country', 'period', 'offer'],
  filters: BY_SUBSCRIPTION.filters,
} as const
/** A trial has no payment and therefore no currency. All trials are the same kind of offer. */
export const BY_TRIAL = {
  splits: ['app', 'product', 'country', 'period'],
  filters: ['app', 'product', 'country', 'period', 'attribute'],
} as const

export const BASE = {
  ratio_of: null,
  parts: [],
  views: [],
  bases: ['gross'],
  has_refund_days: false,
} as const
export const MONEY = { ...BASE, ...BY_SUBSCRIPTION, unit: 'money', bases: ['gross', 'proceeds'] } as const

/** Whether the metric is an amount of money or a ratio of two amounts. */
export const isMoney = ({ unit, ratio_of }: Pick<Definition, 'unit' | 'ratio_of'>): boolean =>
  (ratio_of ?? unit) === 'money'
