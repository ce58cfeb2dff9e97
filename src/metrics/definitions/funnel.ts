/** What we compute: what the metrics on the way from a download to a payment mean. */
import { BY_TRIAL, type Definition, PLAIN, term } from './definition.ts'

/** A download is of an app, in a country: Apple tells nothing else of it. */
const BY_DOWNLOAD = { splits: ['app', 'country'], filters: ['app', 'country'] } as const

const SHARE = { ...PLAIN, ...BY_DOWNLOAD, unit: 'ratio', ratio_of: 'count', kind: 'flow' } as const

export const FUNNEL = {
  downloads: {
    ...PLAIN,
    ...BY_DOWNLOAD,
    name: 'downloads',
    title: 'Downloads',
    unit: 'count',
    kind: 'flow',
    sentence: 'How many people got an app for the first time.',
    formula:
      'Σ units of SALES rows whose product type begins with 1 or F1 (first downloads; no updates, no downloads anew, no bundles); nothing but Apple’s reports tells of them',
  },
  first_payments: {
    ...PLAIN,
    ...BY_TRIAL,
    name: 'first_payments',
    title: 'First payments',
    unit: 'count',
    kind: 'flow',
    sentence: 'How many subscriptions were paid for for the first time.',
    formula:
      'trials that ended and were paid for without a gap + subscriptions paid for for the first time without a trial right before, be it that there was none or that it had lapsed; each subscription once; before the ledger began: conversions from introductory offers, and starts that were not free, of SUBSCRIPTION_EVENT',
    parts: [
      term('after_trial', 'After a trial', 'A free trial came right before.'),
      term('direct', 'Directly', 'Paid for without a trial right before, also where one had lapsed.'),
    ],
  },
  download_to_trial: {
    ...SHARE,
    name: 'download_to_trial',
    title: 'Download to trial',
    sentence: 'How many free trials began for each first download.',
    formula:
      'trials that began ÷ first downloads, both on the days of the period that Apple’s reports of downloads cover; not the same people, so that it may be more than one',
  },
  download_to_paid: {
    ...SHARE,
    name: 'download_to_paid',
    title: 'Download to paid',
    sentence: 'How many subscriptions were first paid for, for each first download.',
    formula:
      'first payments ÷ first downloads, both on the days of the period that Apple’s reports of downloads cover; not the same people. From trial to paid: trial_conversion',
  },
} as const satisfies Record<string, Definition>
