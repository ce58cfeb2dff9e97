/** Definitions of the funnel metrics, from download to first payment. */
import { BASE, BY_TRIAL, type Definition, term } from './definition.ts'

/** Apple reports only the app and the country of a download. */
const BY_DOWNLOAD = { splits: ['app', 'country'], filters: ['app', 'country'] } as const

const SHARE = { ...BASE, ...BY_DOWNLOAD, unit: 'ratio', ratio_of: 'count', kind: 'flow' } as const

export const FUNNEL = {
  downloads: {
    ...BASE,
    ...BY_DOWNLOAD,
    name: 'downloads',
    title: 'Downloads',
    unit: 'count',
    kind: 'flow',
    sentence: 'First-time downloads.',
    formula:
      'Σ units of SALES rows whose product type begins with 1 or F1 (first downloads; no updates, redownloads or bundles). Apple’s reports are the only source',
  },
  first_payments: {
    ...BASE,
    ...BY_TRIAL,
    name: 'first_payments',
    title: 'First payments',
    unit: 'count',
    kind: 'flow',
    sentence: 'Subscriptions paid for the first time.',
    formula:
      'trials that ended and were paid for without a gap + first payments without a trial directly before (no trial, or a lapsed one). Each subscription counts once, at the product and country of the payment. Before the ledger begins: conversions from free introductory offers and paid starts in SUBSCRIPTION_EVENT; an introductory offer that costs money is paid at its start',
    parts: [
      term('after_trial', 'After a trial', 'A free trial came directly before.'),
      term('direct', 'Direct', 'No trial came directly before, or it had lapsed.'),
    ],
  },
  download_to_trial: {
    ...SHARE,
    name: 'download_to_trial',
    title: 'Download to trial',
    sentence: 'Free trials started per first download.',
    formula:
      'trials that began ÷ first downloads, both on the days of the period that Apple’s download reports cover. They are not the same people, so the ratio can exceed 1',
  },
  download_to_paid: {
    ...SHARE,
    name: 'download_to_paid',
    title: 'Download to paid',
    sentence: 'First payments per first download.',
    formula:
      'first payments ÷ first downloads, both on the days of the period that Apple’s download reports cover. They are not the same people. For trial to paid, see trial_conversion',
  },
} as const satisfies Record<string, Definition>
