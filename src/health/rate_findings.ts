/** Findings about exchange rates that are missing or old. */
import type { Clock } from '../clock.ts'
import { APPLE_CURRENCIES, BASE } from '../rates/currencies.ts'
import type { Reader } from '../store/reader.ts'
import { type Finding, fault, ok, warning } from './findings.ts'
import { connectedApps } from './notification_findings.ts'

const MAX_RATE_AGE_MS = 6 * 86_400_000

const NO_RATES = {
  id: 'rates',
  title: 'Exchange rates are missing',
  action: { label: 'Fetch them', command: 'windfall jobs run rates' },
}
const OLD_RATES = { ...NO_RATES, title: 'Exchange rates are out of date' }

/** Yields the finding for the exchange rates: missing, old, up to date, or not needed before an app is connected. */
export function* examineRates(
  reader: Reader,
  clock: Clock,
  { fetchesRates }: { fetchesRates: boolean },
): Generator<Finding> {
  if (connectedApps(reader).length === 0)
    return yield ok('exchange rates', 'not needed before an app is connected.')
  const rated = reader
    .prepare<[], { currency: string; day: string }>(
      'select currency, max(rated_on) as day from rates group by currency',
    )
    .all()
  const wasFetched = reader
    .prepare<[], unknown>("select 1 from job_runs where job = 'rates' and finished_at is not null")
    .get()
  if (rated.length === 0 && !wasFetched)
    return yield warning('exchange rates', 'there are none yet.', {
      ...NO_RATES,
      remedy: 'To fetch them, run windfall jobs run rates',
    })
  const wanted = APPLE_CURRENCIES.filter((currency) => currency !== BASE)
  const lacking = wanted.filter((currency) => !rated.some((one) => one.currency === currency))
  if (lacking.length * 2 > wanted.length) {
    const remedy = fetchesRates
      ? 'To fetch them, run windfall jobs run rates; to import them, run windfall rates import'
      : 'To import them, run windfall rates import'
    const error = reader
      .prepare<[], { error: string | null }>("select error from job_runs where job = 'rates'")
      .get()?.error
    const words = `${lacking.length} of ${wanted.length} currencies have no rate.`
    if (!error) return yield fault('exchange rates', words, { ...NO_RATES, remedy })
    const failed = `${words} The last attempt to fetch them failed.`
    return yield fault('exchange rates', failed, { ...NO_RATES, remedy, cause: error })
  }
  const newest = rated.map(({ day }) => day).reduce((a, b) => (a > b ? a : b))
  const isOld = clock() - Date.parse(newest) > MAX_RATE_AGE_MS
  const remedy = 'To fetch newer ones, run windfall jobs run rates'
  if (isOld) yield warning('exchange rates', `the newest are of ${newest}.`, { ...OLD_RATES, remedy })
  else yield ok('exchange rates', `up to ${newest}.`)
}
