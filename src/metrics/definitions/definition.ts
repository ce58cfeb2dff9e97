/** The shape of a metric definition, and the values that many definitions share. */
import type { Basis } from '../../money.ts'

/** money: thousandths of a currency. ratio: numerator ÷ denominator; an answer has both. */
export type Unit = 'money' | 'count' | 'ratio'

/** level: the value at the end of a day, week or month. flow: the total within it. */
export type Kind = 'level' | 'flow'

export type Split = 'app' | 'product' | 'country' | 'period' | 'offer' | 'currency'
export type Filter = Split | 'attribute'

export type Labelled = { name: string; title: string; sentence: string }

/** A number in words and as a formula. */
export type Description = Labelled & { formula: string }

/** What a metric is, for clients that show it. Requests and answers name its `parts` and `views`. */
export type Definition = Description & {
  unit: Unit
  /** The unit of a ratio’s numerator and denominator; null where the metric is no ratio. */
  ratio_of: 'money' | 'count' | null
  kind: Kind
  parts: readonly Labelled[]
  views: readonly Labelled[]
  splits: readonly Split[]
  filters: readonly Filter[]
  bases: readonly Basis[]
  /** Whether refunds can also be counted on the day of the purchase. */
  has_refund_days: boolean
}

/** A name with its title and sentence. */
export const term = (name: string, title: string, sentence: string): Labelled => ({ name, title, sentence })

export const BY_SUBSCRIPTION = {
  splits: ['app', 'product', 'country', 'period', 'offer', 'currency'],
  filters: ['app', 'product', 'country', 'period', 'offer', 'currency', 'attribute'],
} as const
/** No split by currency: a movement between two currencies belongs to neither, so the split would not add up. */
export const BY_MOVEMENT = {
  splits: ['app', 'product', 'country', 'period', 'offer'],
  filters: BY_SUBSCRIPTION.filters,
} as const
/** A trial has no payment, so it has no currency, and it is one kind of offer. */
export const BY_TRIAL = {
  splits: ['app', 'product', 'country', 'period'],
  filters: ['app', 'product', 'country', 'period', 'attribute'],
} as const

export const PLAIN = {
  ratio_of: null,
  parts: [],
  views: [],
  bases: ['gross'],
  has_refund_days: false,
} as const
export const MONEY = { ...PLAIN, ...BY_SUBSCRIPTION, unit: 'money', bases: ['gross', 'proceeds'] } as const

/** Whether the metric is an amount of money or a ratio of two amounts. */
export const isMoney = ({ unit, ratio_of }: Pick<Definition, 'unit' | 'ratio_of'>): boolean =>
  (ratio_of ?? unit) === 'money'
