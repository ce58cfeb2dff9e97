/** Knows the countries with a sale, from the ledger and Apple's reports, for rules about the first sale in a country. */
import type { Clock } from '../../clock.ts'
import type { FeedEvent } from '../../events/feed.ts'
import { storefrontOf } from '../../metrics/reports/countries.ts'
import type { Store } from '../../store/store.ts'
import { type Memory, ownerOf } from '../memory.ts'
import type { Snapshot } from '../messages/occasion.ts'
import type { Rule } from './rules.ts'

const SEEDED = 'countries'

type Deps = { store: Pick<Store, 'prepare'>; clock: Clock; memory: Memory }

export type Countries = ReturnType<typeof openCountries>

/** Opens the countries. */
export function openCountries({ store, clock, memory }: Deps) {
  const importFinished = store.prepare<[string], object>(
    "select 1 from events where organization_id = ? and type = 'import.finished' limit 1",
  )
  const inLedger = store.prepare<[string, string, number], { country: string }>(`
    select distinct storefront as country from transactions
    where app_id in (select id from apps where organization_id = ?) and environment = ? and price_milli > 0
      and ifnull(ownership, 'PURCHASED') = 'PURCHASED' and storefront is not null and purchased_at < ?`)
  const inReports = store.prepare<[string], { country: string }>(`
    select distinct country from sales_days
    where report_id in (select id from reports where organization_id = ?) and proceeds_milli > 0`)

  /**
   * Whether an event is the first sale in its country. Remembers the country. Without the first import, no sale is the
   * first. Must run inside a unit of work.
   */
  function isFirst(rule: Rule, event: FeedEvent): boolean {
    const { country } = event.data as Snapshot
    const isImported = importFinished.get(rule.organization_id) !== undefined
    if (country === undefined || !isImported) return false
    const owner = ownerOf(rule)
    if (memory.get(owner, SEEDED) === null) seed(rule, event.occurred_at)
    const isKnown = memory.get(owner, keyOf(country)) !== null
    if (!isKnown) memory.set(owner, keyOf(country), '', clock())
    return !isKnown
  }

  /** Remembers the countries with a sale before an instant. */
  function seed(rule: Rule, before: number): void {
    const known = [
      ...inLedger.all(rule.organization_id, rule.settings.environment, before),
      ...inReports.all(rule.organization_id),
    ]
    for (const { country } of known) memory.set(ownerOf(rule), keyOf(storefrontOf(country)), '', clock())
    memory.set(ownerOf(rule), SEEDED, '', clock())
  }

  return { isFirst }
}

const keyOf = (country: string): string => `country/${country}`
