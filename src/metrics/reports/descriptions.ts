/** Describes each coverage figure in a sentence and a formula. */
import type { Description, Labelled } from '../definitions/definition.ts'
import { term } from '../definitions/definition.ts'

/** The causes of differences between ledger and reports, with the names that answers use. */
const CAUSES: readonly Labelled[] = [
  term(
    'before_first_notification',
    'Before the first notification',
    'From a time or from subscriptions of which Windfall had received nothing.',
  ),
  term(
    'upgrade_proration',
    'Upgrades',
    'Amounts returned at upgrades. Apple reports them; the ledger estimates them.',
  ),
  term(
    'refund_timing',
    'Refunds',
    'Ledger and reports count a refund on different days, or only one of them counts it. The ledger uses the exchange rate of the charge, the reports that of the day on which the refund is reported.',
  ),
  term('day_boundary', 'Midnight', 'Amounts that the other source has in the next or the previous month.'),
  term('exchange_rate', 'Exchange rates', 'The same amount at the rate of another day.'),
  term('family_sharing', 'Family sharing', 'Always zero: neither source counts shared purchases.'),
  term('unknown', 'Unknown', 'No known cause.'),
]

export const COVERAGE_DESCRIPTIONS: readonly (Description & { parts: readonly Labelled[] })[] = [
  {
    name: 'share',
    title: 'Coverage',
    sentence: 'How much of Apple’s reports Windfall’s transactions explain.',
    formula:
      'ledger ÷ reports, by app, month and metric. Levels (MRR, subscriptions, trials) are those at the end of the month’s last Pacific day with a report; flows (revenue, refunds, new trials) are summed over its days',
    parts: [],
  },
  {
    name: 'residue',
    title: 'Residue',
    sentence: 'The difference between reports and ledger, by cause.',
    formula: 'reports − ledger = Σ causes; negative where the ledger has more',
    parts: CAUSES,
  },
]
