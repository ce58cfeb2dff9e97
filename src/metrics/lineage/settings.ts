/** The settings with which an app’s figures are computed: calendar, currency and product periods. */
import type { Apps } from '../../apps/apps.ts'
import type { Products } from '../../apps/products.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Store } from '../../store/store.ts'
import type { CountedBy, Generations } from '../upkeep/generations.ts'
import { type Calendar, dayText, openCalendar } from './calendar.ts'
import type { PricedCharge, Proceeds } from './proceeds.ts'
import type { Settings } from './rows.ts'

/** The zone of Apple's reports. */
export const PACIFIC = 'America/Los_Angeles'

/**
 * `calendars`: the organization’s calendar, then the calendar of Apple’s reports if that differs. `wasProvisional`:
 * whether any conversion since the previous call had no rate or a rate that is not final.
 */
export type AppSettings = Settings & {
  calendars: readonly Calendar[]
  currency: string
  wasProvisional: () => boolean
}

/** The settings of an app in the shown generation; null for an app that does not exist. */
export type SettingsOf = (app_id: string) => AppSettings | null

export type CountingSettings = ReturnType<typeof openCountingSettings>

type Deps = {
  store: Store
  apps: Apps
  generations: Generations
  products: Products
  rates: Rates
  proceedsOf: (app_id: string, charge: PricedCharge) => Proceeds
}

/** Opens the settings of each app in each generation. */
export function openCountingSettings({ store, apps, generations, products, rates, proceedsOf }: Deps) {
  const calendars = new Map<string, Calendar>()
  const periods = store.cached(['products'], (name) => {
    const [app_id = '', product_id = ''] = name.split('\n')
    return products.periodOf(app_id, product_id)
  })
  const conversions = store.cached(['rates'], (name) => {
    const [milli, currency = '', to = '', on = ''] = name.split(' ')
    return rates.convert(Number(milli), currency, to, on)
  })
  const cache = new Map<string, AppSettings>()
  let isProvisional = false

  function calendarOf(zone: string): Calendar {
    const opened = calendars.get(zone) ?? openCalendar(zone)
    calendars.set(zone, opened)
    return opened
  }

  /** The settings of an app in a generation; null for an app that does not exist. */
  function settingsIn(generation: CountedBy, app_id: string): AppSettings | null {
    if (apps.get(app_id) === null) return null
    const { time_zone, currency, factors } = generation
    const key = [app_id, time_zone, currency, factors].join('\n')
    const cached = cache.get(key)
    if (cached) return cached
    const appSettings = settingsFor(generation, app_id)
    if (cache.size >= SETTINGS_CACHE_SIZE) cache.clear()
    cache.set(key, appSettings)
    return appSettings
  }

  function settingsFor({ time_zone, currency: base, factors }: CountedBy, app_id: string): AppSettings {
    const [calendar, pacific] = [calendarOf(time_zone), calendarOf(PACIFIC)]
    return {
      factors,
      calendar,
      pacific,
      currency: base,
      calendars: time_zone === PACIFIC ? [calendar] : [calendar, pacific],
      periodOf: (product_id) => periods(`${app_id}\n${product_id}`),
      proceedsOf: (charge) => proceedsOf(app_id, charge),
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
  }

  const settingsOf: SettingsOf = (app_id) => {
    const shown = generations.shownOf(app_id)
    return shown && settingsIn(shown, app_id)
  }

  /** Records that a conversion had no final rate. */
  const noteProvisional = (): void => {
    isProvisional = true
  }

  return { settingsIn, settingsOf, calendarOf, noteProvisional }
}

const SETTINGS_CACHE_SIZE = 10_000
