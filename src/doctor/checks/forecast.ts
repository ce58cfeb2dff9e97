/** Forecasts when the disk is full, from daily samples of its free space. */

const DAY_MS = 86_400_000
/** A shorter time says little about growth. */
const MIN_DAYS = 3
/** A forecast for longer is of no use. */
const MAX_DAYS = 3_650
const MEGABYTE = 1_048_576

type FreeSpace = { sampled_at: number; free_bytes: number }

/** The forecast in words. `days` until the disk is full is null if it is unknown, or if the disk does not fill up. */
type Forecast = { words: string; days: number | null }

/**
 * Compares the free space of the oldest sample with that of `now`. Everything that uses the disk counts, also other
 * programs. With samples of less than three days, the forecast is unknown.
 */
export function forecastOf(samples: readonly FreeSpace[], now: FreeSpace): Forecast {
  const [first] = samples
  const days = first === undefined ? 0 : (now.sampled_at - first.sampled_at) / DAY_MS
  if (first === undefined || days < MIN_DAYS)
    return { words: 'The growth is unknown: it takes samples of three days.', days: null }
  const perDay = (first.free_bytes - now.free_bytes) / days
  const since = `in the last ${Math.round(days)} days`
  if (perDay <= 0) return { words: `The free space did not shrink ${since}.`, days: null }
  const left = now.free_bytes / perDay
  const rate = `The free space shrank by ${megabytes(perDay)} MB a day ${since}`
  if (left > MAX_DAYS) return { words: `${rate}: it lasts for more than ten years.`, days: left }
  const floored = Math.floor(left)
  return { words: `${rate}: it lasts for ${floored === 1 ? '1 day' : `${floored} days`}.`, days: left }
}

const megabytes = (bytes: number): string =>
  bytes < MEGABYTE / 10
    ? 'less than 0.1'
    : (bytes / MEGABYTE).toLocaleString('en-US', { maximumFractionDigits: 1 })
