/** Parses the subscription durations of Apple's reports. */

const LETTERS: Readonly<Record<string, string>> = { day: 'D', week: 'W', month: 'M', year: 'Y' }

/**
 * An ISO 8601 duration for a “Standard Subscription Duration” of Apple's reports: `7 Days` is P1W, `1 Month` P1M,
 * `1 Year` P1Y. Null for any other text.
 */
export function parsePeriod(text: string): string | null {
  const [, digits, unit = ''] = /^\s*([1-9]\d{0,3})\s+(day|week|month|year)s?\s*$/i.exec(text) ?? []
  if (digits === undefined) return null
  const count = Number(digits)
  const letter = LETTERS[unit.toLowerCase()]
  if (letter === 'D' && count % 7 === 0) return `P${count / 7}W`
  return letter === 'M' && count % 12 === 0 ? `P${count / 12}Y` : `P${count}${letter}`
}
