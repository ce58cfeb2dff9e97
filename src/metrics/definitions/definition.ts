/** What we compute: what the definition of a metric is, and what many of them have in common. */
import type { Basis } from '../../money.ts'

/** money: thousandths of a currency. ratio: numerator ÷ denominator, both told. */
export type Unit = 'money' | 'count' | 'ratio'

/** level: what stands at the end of a day, week or month. flow: what happened within it. */
export type Kind = 'level' | 'flow'

export type Split = 'app' | 'product' | 'country' | 'period' | 'offer' | 'currency'
export type Filter = Split | 'attribute'

export type Labelled = { name: string; title: string; sentence: string }

/** A number in words and as a formula. */
export type Description = Labelled & { formula: string }

/** What a metric is, for whoever shows it. `parts` and `views` have names of their own in a question or an answer. */
export type Definition = Description & {
  unit: Unit
  /** Of a ratio: what is divided by what. */
  ratio_of: 'money' | 'count' | null
  kind: Kind
  parts: readonly Labelled[]
  views: readonly Labelled[]
  splits: readonly Split[]
  filters: readonly Filter[]
  bases: readonly Basis[]
  /** Refunds can be counted on the day of the purchase, too. */
  has_refund_days: boolean
}

/** A name with its words. */
export const term = (name: string, title: string, sentence: string): Labelled => ({ name, title, sentence })

export const BY_SUBSCRIPTION = {
  splits: ['app', 'product', 'country', 'period', 'offer', 'currency'],
  filters: ['app', 'product', 'country', 'period', 'offer', 'currency', 'attribute'],
} as const
/** Between currencies a movement has none of its own, so that a split by them would not add up. */
export const BY_MOVEMENT = {
  splits: ['app', 'product', 'country', 'period', 'offer'],
  filters: BY_SUBSCRIPTION.filters,
} as const
/** Nobody has paid for a trial: it has no currency, and is one kind of offer. */
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

/** Whether its figures are money, or are made of it. */
export const isMoney = ({ unit, ratio_of }: Pick<Definition, 'unit' | 'ratio_of'>): boolean =>
  (ratio_of ?? unit) === 'money'
