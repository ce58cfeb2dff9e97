/** Parses an instant such as `7d` or `2026-05-01`. */
import { Refusal } from '../../errors.ts'

const MINUTE_MS = 60_000
const UNITS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 1_440 * MINUTE_MS,
  w: 7 * 1_440 * MINUTE_MS,
}
const DURATION = /^(\d{1,6})([mhdw])$/
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * Parses an instant, in milliseconds. The text is a duration before `now` (`90m`, `36h`, `7d`, `2w`) or a date, with or
 * without a time. A time without a zone is UTC.
 *
 * @throws Refusal 400 `invalid_request` for any other text, a day that does not exist, or an instant in the future.
 */
export function instantSince(text: string, now: number): number {
  const [, count, unit] = DURATION.exec(text) ?? []
  const at = unit === undefined ? dateIn(text) : now - Number(count) * (UNITS[unit] ?? 0)
  if (at === null) {
    throw invalid(
      `“${text}” is neither a date (2026-05-01, 2026-05-01T08:00Z) nor a duration (90m, 36h, 7d, 2w)`,
    )
  }
  if (at >= now) throw invalid(`${text} is not in the past`)
  return at
}

function dateIn(text: string): number | null {
  const [, time, , , zone] = DATE.exec(text) ?? [null]
  if (!DATE.test(text)) return null
  const at = Date.parse(time === undefined || zone !== undefined ? text : `${text}Z`)
  // Date.parse reads some days that do not exist as days of the next month.
  const hasValidDay = !Number.isNaN(Date.parse(text.slice(0, 10))) && isExistingDay(text.slice(0, 10))
  return Number.isNaN(at) || !hasValidDay ? null : at
}

const isExistingDay = (day: string): boolean => new Date(Date.parse(day)).toISOString().slice(0, 10) === day

const invalid = (message: string): Refusal =>
  new Refusal(400, 'invalid_request', message, { errors: [{ path: 'since', message }] })
