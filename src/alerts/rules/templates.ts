/** Defines the templates of rules: what each tells, by which events, and its default settings. */
import * as v from 'valibot'
import { EVENT_TYPES, type EventType } from '../../events/vocabulary.ts'
import { minutesOf } from '../sending/quiet_hours.ts'

/**
 * How a rule of a template is evaluated. `sale`: by the one event of each new transaction. `event`: by other events.
 * `figures`: by the clock. `trouble`: by the findings of this instance.
 */
type Basis = 'sale' | 'event' | 'figures' | 'trouble'

type Template = Readonly<{
  name: TemplateName
  title: string
  about: string
  basis: Basis
  /** The event types that a rule without `types` is about. */
  types: readonly EventType[]
  /** Whether an organization has this rule from the start. */
  is_default: boolean
  defaults: Partial<RuleSettings>
}>

const TEMPLATE_NAMES = [
  'sale',
  'new_subscriber',
  'trial',
  'refund',
  'big_sale',
  'first_in_country',
  'no_sale',
  'milestone',
  'record_day',
  'refund_spike',
  'billing_failure',
  'cancellation',
  'trouble',
] as const
export type TemplateName = (typeof TEMPLATE_NAMES)[number]

/** A wall time such as `22:30`. */
export const wallTime = v.pipe(
  v.string(),
  v.check((text) => minutesOf(text) !== null, 'must be a time such as 22:30'),
)
/** Wall times in the time zone of the organization. */
export const QuietHoursSetting = v.strictObject({ from: wallTime, until: wallTime })

const nullableList = (item: v.GenericSchema<string>, about: string) =>
  v.pipe(v.nullable(v.pipe(v.array(item), v.minLength(1), v.maxLength(200))), v.description(about))
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** The settings of a rule. Those that a template does not use are ignored. */
export const RuleSettings = v.strictObject({
  types: nullableList(v.picklist(EVENT_TYPES), 'Event types; null for those of the template'),
  apps: nullableList(text, 'Ids of apps; null for all'),
  // Another spelling would match nothing.
  countries: v.pipe(
    nullableList(text, 'Three-letter codes of storefronts; null for all'),
    v.check(
      (codes) => codes?.every((code) => /^[A-Z]{3}$/.test(code)) ?? true,
      'must be three-letter codes such as USA',
    ),
  ),
  products: nullableList(text, 'Product ids; null for all'),
  environment: v.pipe(v.picklist(['production', 'sandbox']), v.description('Where the purchase was made')),
  minimum_milli: v.pipe(
    v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
    v.description('The least amount in thousandths of the base currency; null for any amount'),
  ),
  hours: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(168), v.description('For no sale')),
  level: v.pipe(v.picklist(['fault', 'warning']), v.description('The least severe finding, for trouble')),
  quiet: v.pipe(
    v.union([v.picklist(['organization', 'none']), QuietHoursSetting]),
    v.description('Quiet hours: those of the organization, none, or its own'),
  ),
  pierces_quiet: v.pipe(v.boolean(), v.description('Whether faults are sent in quiet hours')),
  per_hour: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
    v.description('At most this many messages an hour, then one summary; null for no limit'),
  ),
})
export type RuleSettings = v.InferOutput<typeof RuleSettings>

const { entries } = RuleSettings
/** Some settings of a rule. */
export const SomeRuleSettings = v.strictObject({
  types: v.exactOptional(entries.types),
  apps: v.exactOptional(entries.apps),
  countries: v.exactOptional(entries.countries),
  products: v.exactOptional(entries.products),
  environment: v.exactOptional(entries.environment),
  minimum_milli: v.exactOptional(entries.minimum_milli),
  hours: v.exactOptional(entries.hours),
  level: v.exactOptional(entries.level),
  quiet: v.exactOptional(entries.quiet),
  pierces_quiet: v.exactOptional(entries.pierces_quiet),
  per_hour: v.exactOptional(entries.per_hour),
})

const NEUTRAL: RuleSettings = {
  types: null,
  apps: null,
  countries: null,
  products: null,
  environment: 'production',
  minimum_milli: null,
  hours: 12,
  level: 'warning',
  quiet: 'organization',
  pierces_quiet: true,
  per_hour: 20,
}

/** 100 units of the base currency. */
const BIG_SALE_MILLI = 100_000

export const TEMPLATES: readonly Template[] = [
  {
    name: 'sale',
    title: 'Every sale',
    about: 'Each payment: purchases, renewals and trials that convert.',
    basis: 'sale',
    types: ['transaction.recorded'],
    is_default: true,
    defaults: { per_hour: 10 },
  },
  {
    name: 'new_subscriber',
    title: 'New subscribers',
    about: 'The first payment of a subscription, also after a trial, and subscribers who come back.',
    basis: 'event',
    types: ['subscription.started', 'trial.converted', 'subscription.resubscribed'],
    is_default: false,
    defaults: {},
  },
  {
    name: 'trial',
    title: 'Trials',
    about: 'Each free trial that starts.',
    basis: 'event',
    types: ['trial.started'],
    is_default: true,
    defaults: { per_hour: 10 },
  },
  {
    name: 'refund',
    title: 'Refunds',
    about: 'Each refund that Apple grants.',
    basis: 'event',
    types: ['subscription.refunded', 'purchase.refunded'],
    is_default: true,
    defaults: {},
  },
  {
    name: 'big_sale',
    title: 'A big sale',
    about: 'A payment of at least an amount in your currency.',
    basis: 'sale',
    types: ['transaction.recorded'],
    is_default: false,
    defaults: { minimum_milli: BIG_SALE_MILLI },
  },
  {
    name: 'first_in_country',
    title: 'First sale in a country',
    about: 'The first payment from a storefront, also compared with Apple’s reports.',
    basis: 'sale',
    types: ['transaction.recorded'],
    is_default: true,
    defaults: {},
  },
  {
    name: 'no_sale',
    title: 'No sale for hours',
    about: 'No payment for a number of hours in which you usually have at least three.',
    basis: 'figures',
    types: [],
    is_default: false,
    defaults: {},
  },
  {
    name: 'milestone',
    title: 'MRR milestone',
    about: 'MRR passes 100, 250, 500, 1,000 and so on, once for each.',
    basis: 'figures',
    types: [],
    is_default: true,
    defaults: {},
  },
  {
    name: 'record_day',
    title: 'Record day',
    about: 'Revenue today exceeds every day before, with at least 60 days of history.',
    basis: 'figures',
    types: [],
    is_default: true,
    defaults: {},
  },
  {
    name: 'refund_spike',
    title: 'Refund spike',
    about: 'At least five refunds today, and more than three times the mean of 28 days.',
    basis: 'figures',
    types: [],
    is_default: true,
    defaults: {},
  },
  {
    name: 'billing_failure',
    title: 'Billing failures',
    about: 'A renewal that could not be charged.',
    basis: 'event',
    types: ['subscription.billing_failed', 'subscription.grace_started'],
    is_default: false,
    defaults: { per_hour: 5 },
  },
  {
    name: 'cancellation',
    title: 'Cancellations',
    about: 'A subscriber who turns off renewal.',
    basis: 'event',
    types: ['subscription.renewal_disabled'],
    is_default: false,
    defaults: { per_hour: 5 },
  },
  {
    name: 'trouble',
    title: 'Something needs me',
    about: 'Faults and warnings of this instance, and their end.',
    basis: 'trouble',
    types: [],
    is_default: true,
    defaults: { per_hour: null },
  },
]

/** The template of this name. */
export const templateOf = (name: TemplateName): Template => {
  const found = TEMPLATES.find((template) => template.name === name)
  if (found === undefined) throw new Error(`there is no template ${name}`)
  return found
}

/** The name of a template. */
export const TemplateNameSchema = v.picklist(TEMPLATE_NAMES)

/** The settings of a rule with this template, as far as they are not given. */
export const settingsOf = (name: TemplateName, given: Partial<RuleSettings> = {}): RuleSettings => ({
  ...NEUTRAL,
  ...templateOf(name).defaults,
  ...given,
})
