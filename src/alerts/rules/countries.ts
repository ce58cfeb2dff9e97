/** Knows the countries with a sale, from the ledger and Apple's reports, for rules about the first sale in a country. */
import type { Clock } from '../../clock.ts'
import type { FeedEvent } from '../../events/feed.ts'
import { dayText, openCalendar } from '../../metrics/lineage/calendar.ts'
import { PACIFIC } from '../../metrics/lineage/settings.ts'
import { storefrontOf } from '../../metrics/reports/countries.ts'
import type { Store } from '../../store/store.ts'
import { type Memory, ownerOf } from '../memory.ts'
import type { Snapshot } from '../messages/occasion.ts'
import type { Rule } from './rules.ts'

const DAY_MS = 86_400_000

type Deps = { store: Pick<Store, 'prepare'>; clock: Clock; memory: Memory }

type Selling = Pick<Rule, 'organization_id' | 'settings'>

export type Countries = ReturnType<typeof openCountries>

/** Opens the countries. */
export function openCountries({ store, clock, memory }: Deps) {
  const importFinished = store.prepare<[string], object>(
    "select 1 from events where organization_id = ? and type = 'import.finished' limit 1",
  )
  const inLedger = store.prepare<[string, string, string, number], object>(`
    select 1 from transactions
    where app_id in (select id from apps where organization_id = ?) and environment = ? and storefront = ?
      and price_milli > 0 and ifnull(ownership, 'PURCHASED') = 'PURCHASED' and purchased_at < ? limit 1`)
  const inReports = store.prepare<[string, string], { country: string }>(`
    select distinct country from sales_days
    where report_id in (select id from reports where organization_id = ? and day_on < ?) and proceeds_milli > 0`)
  /** Apple's reports have days of this zone. */
  const pacific = openCalendar(PACIFIC)

  /** Whether there was a sale in the country of an event before an instant. */
  function isKnownBefore({ organization_id, settings }: Selling, { data }: FeedEvent, at: number): boolean {
    const { country = '' } = data as Snapshot
    if (inLedger.get(organization_id, settings.environment, country, at)) return true
    const reported = inReports.all(organization_id, dayText(pacific.dayOf(at)))
    return reported.some((one) => storefrontOf(one.country) === country)
  }

  /** Whether an event is in a country without a sale before it. Without the first import, none is. */
  function isNews(rule: Selling, event: FeedEvent): boolean {
    const isImported = importFinished.get(rule.organization_id) !== undefined
    const { country } = event.data as Snapshot
    return isImported && country !== undefined && !isKnownBefore(rule, event, event.occurred_at)
  }

  /**
   * Whether an event is the first sale in its country. Remembers the country if it is, or if it was known a day before:
   * sales of one day can arrive in another order. Must run inside a unit of work.
   */
  function isFirst(rule: Rule, event: FeedEvent): boolean {
    const { country } = event.data as Snapshot
    const owner = ownerOf(rule)
    if (country === undefined || memory.get(owner, keyOf(country)) !== null) return false
    const isFirstNow = isNews(rule, event)
    if (isFirstNow || isKnownBefore(rule, event, event.occurred_at - DAY_MS))
      memory.set(owner, keyOf(country), '', clock())
    return isFirstNow
  }

  return { isFirst, isNews }
}

const keyOf = (country: string): string => `country/${country}`
