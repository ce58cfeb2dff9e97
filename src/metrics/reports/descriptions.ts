/** What we compute: what every number of the coverage means, in words and as a formula. */
import type { Description, Labelled } from '../definitions/definition.ts'
import { term } from '../definitions/definition.ts'

/** Why the two differ, by the names that the causes have in an answer. */
const CAUSES: readonly Labelled[] = [
  term(
    'before_first_notification',
    'Not heard of yet',
    'Of a time, or of subscriptions, that nothing had been heard of.',
  ),
  term('upgrade_proration', 'Upgrades', 'Parts given back, which Apple tells in reports alone.'),
  term(
    'refund_timing',
    'Refunds',
    'Counted on other days by the two, or by one of them not; the ledger’s at the rate of the charge, the reports’ at that of the day.',
  ),
  term('day_boundary', 'Midnight', 'What the other has in the next month or the one before.'),
  term('exchange_rate', 'Exchange rates', 'The same money by the rate of another day.'),
  term('family_sharing', 'Family sharing', 'Neither counts what a family shares: always nothing.'),
  term('unknown', 'Unknown', 'None of these.'),
]

export const COVERAGE_DESCRIPTIONS: readonly (Description & { parts: readonly Labelled[] })[] = [
  {
    name: 'share',
    title: 'Coverage',
    sentence: 'How much of Apple’s figure single transactions explain.',
    formula:
      'ledger ÷ reports, by app, month and metric; levels (MRR, subscriptions, trials) at the end of the last Pacific day of the month that a report tells of, flows (revenue, refunds, new trials) summed over its days',
    parts: [],
  },
  {
    name: 'residue',
    title: 'What is left',
    sentence: 'By how much the two differ, and why.',
    formula: 'reports − ledger = Σ causes; below zero where the ledger has more',
    parts: CAUSES,
  },
]
