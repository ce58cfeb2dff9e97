/** Defines what a message is about, and its text. */
import type { TemplateName } from '../rules/templates.ts'

/**
 * What a message is about. `event`: an event of the feed. `figures`: a fact that was computed by the clock. `finding`: a
 * fault or warning, its end, or that it comes and goes; `remains` says what its end left behind. `device`: a device that its
 * push service ended, and that was removed. `summary`: other messages. `digest`: a day or a week.
 */
export type Subject =
  | Readonly<{ about: 'event'; template: TemplateName; event_id: string; is_recovered: boolean }>
  | Readonly<{ about: 'figures'; template: TemplateName; figures: Figures }>
  | Readonly<{
      about: 'finding'
      state: 'began' | 'ended' | 'flapping'
      finding: FindingText
      remains?: string
    }>
  | Readonly<{ about: 'device'; name: string }>
  | Readonly<{ about: 'summary'; reason: SummaryReason }>
  | Readonly<{ about: 'digest'; digest_id: string }>

/** Amounts in thousandths of `currency`. The fields that a template does not have are absent. */
export type Figures = Readonly<{
  currency?: string
  milli?: number
  threshold_milli?: number
  record_milli?: number
  record_on?: string
  count?: number
  mean?: number
  hours?: number
  last_at?: number | null
  app_id?: string | null
}>

/**
 * A finding as it was when the message was made. `end_title`: the title of the message about its end, if it has its own.
 * `about`: the name of what it is about. `since`: when it was first seen, in ms since the epoch.
 */
export type FindingText = Readonly<{
  id: string
  title: string
  end_title?: string
  about?: string
  text: string
  level: 'fault' | 'warning'
  since: number
}>

/** Why messages are sent together. */
export type SummaryReason = 'quiet' | 'muted' | 'hourly' | 'late' | 'recovered'

/** The words of a message. */
export type Words = Readonly<{
  title: string
  body: string
  fields: readonly Readonly<{ label: string; value: string }>[]
}>

/**
 * What a summary adds up of a message about an event. `name` is the picture and the name of what happened. `milli` is in
 * thousandths of `currency`, which is that of the organization: negative for a refund, null without an exchange rate.
 */
export type Tally = Readonly<{
  kind: 'sale' | 'refund' | 'trial' | 'other'
  name: string
  milli: number | null
  currency: string
  customer_id: string | null
  product: string
}>

/** `trouble`: it needs the owner at once. `warning`: it shows as trouble, and makes no more noise than others. */
export type Urgency = 'normal' | 'warning' | 'trouble'

/**
 * The text of a message, fixed before it is first sent. `shown` is with amounts and `hidden` without. `path` is the page
 * of the dashboard that a tap opens. Messages about events have a `tally`.
 */
export type Text = Readonly<{ shown: Words; hidden: Words; path: string; urgency: Urgency; tally?: Tally }>

/** What a message is about, with its text since it was first sent. */
export type Content = Readonly<{ subject: Subject; text?: Text }>
