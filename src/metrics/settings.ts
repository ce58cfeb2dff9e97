/** What we compute: by which calendar, in which currency and with which periods an app's metrics are counted. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Products } from '../apps/products.ts'
import type { Rates } from '../ledger/rates/rates.ts'
import type { Store } from '../store/store.ts'
import { type Calendar, dayText, openCalendar } from './calendar.ts'
import type { Factors } from './months.ts'
import type { Settings } from './rows.ts'

/** The zone of Apple's reports. */
export const PACIFIC = 'America/Los_Angeles'

/**
 * `calendars`: the organization's own first, and that of Apple's reports. `wasProvisional`: whether anything that was
 * converted since it was asked last had no rate, or one that may yet be another.
 */
export type AppSettings = Settings & { calendars: readonly Calendar[]; wasProvisional: () => boolean }

export type SettingsOf = (app_id: string) => AppSettings | null

type Deps = { store: Store; apps: Apps; organizations: Organizations; products: Products; rates: Rates }

/** What holds for each app; null for an app that does not exist. */
export function openSettings(
  { store, apps, organizations, products, rates }: Deps,
  factors: Factors,
): SettingsOf {
  const calendars = new Map<string, Calendar>()
  const periods = store.remembering(['products'], (name) => {
    const [app_id = '', product_id = ''] = name.split('\n')
    return products.periodOf(app_id, product_id)
  })
  const conversions = store.remembering(['rates'], (name) => {
    const [milli, currency = '', to = '', on = ''] = name.split(' ')
    return rates.convert(Number(milli), currency, to, on)
  })
  let isProvisional = false

  function calendarOf(zone: string): Calendar {
    const known = calendars.get(zone)
    if (known) return known
    const opened = openCalendar(zone)
    calendars.set(zone, opened)
    return opened
  }

  return store.remembering(['apps', 'organizations'], (app_id): AppSettings | null => {
    const app = apps.get(app_id)
    const organization = app && organizations.get(app.organization_id)
    if (!organization) return null
    const { time_zone, currency: base } = organization
    const [calendar, pacific] = [calendarOf(time_zone), calendarOf(PACIFIC)]
    return {
      factors,
      calendar,
      pacific,
      calendars: time_zone === PACIFIC ? [calendar] : [calendar, pacific],
      periodOf: (product_id) => periods(`${app_id}\n${product_id}`),
      toBase(milli, currency, at) {
        if (currency === base) return milli
        const converted = conversions(`${milli} ${currency} ${base} ${dayText(calendar.dayOf(at))}`)
        if (!converted?.is_final) isProvisional = true
        return converted?.milli ?? null
      },
      wasProvisional() {
        const was = isProvisional
        isProvisional = false
        return was
      },
    }
  })
}
