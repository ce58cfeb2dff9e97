/**
 * Schemas for the values of settings. Their messages describe the fault; `write` of a setting describes a valid value.
 */
import { isIP } from 'node:net'
import { Cron } from 'croner'
import * as v from 'valibot'
import { isAddressRange, parseAllowedNetwork } from './checks/address_ranges.ts'
import { faultOfPrivateKey } from './checks/private_key.ts'
import { closestMatch } from './checks/suggest.ts'

export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.integer('is not a whole number'),
    v.minValue(min, `is less than ${min}`),
    v.maxValue(max, `is more than ${max}`),
  )

export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  v.picklist(words, (issue) => {
    const suggestion =
      typeof issue.input === 'string' ? closestMatch(issue.input, words, (word) => word) : null
    return suggestion === null
      ? 'is not one of the choices'
      : `is not one of the choices, but "${suggestion}" is`
  })

export const shortText = v.pipe(
  v.string(),
  v.regex(/\S/, 'is empty'),
  v.maxLength(200, 'is longer than 200 characters'),
  v.regex(/^\P{Cc}*$/u, 'contains a control character'),
)

export const filePath = v.pipe(
  v.string(),
  v.regex(/\S/, 'is empty'),
  v.regex(/[^/\\]$/, 'is a folder, not a file'),
)

/** Whether the text is a valid DNS name. Digits and dots alone are a mistyped address. */
function isHostName(text: string): boolean {
  const labels = text.split('.')
  return (
    text.length <= 253 &&
    !/^[\d.]+$/.test(text) &&
    labels.every((label) => /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$/.test(label))
  )
}

export const host = v.pipe(
  v.string(),
  v.check((text) => isIP(text) !== 0 || isHostName(text), 'is not an IP address or a host name'),
)

/** An IP address and a port; IPv6 in brackets. */
export const listenAddress = v.pipe(
  v.string(),
  v.check((text) => parseListenAddress(text) !== null, 'is not an IP address with a port'),
)

/** The parts of an address such as `127.0.0.1:9187` or `[::1]:9187`; null if it is none. */
export function parseListenAddress(text: string): { host: string; port: number } | null {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const address = bracketed ?? plain ?? ''
  const isAddress = isIP(address) === (bracketed === undefined ? 4 : 6)
  return isAddress && Number(port) <= 65_535 ? { host: address, port: Number(port) } : null
}

export const metricsToken = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{16,}$/, 'is shorter than 16 characters, or has spaces'),
)

export const addressRange = v.pipe(
  v.string(),
  v.check(isAddressRange, 'is not an IP address or a CIDR range'),
)

function faultOfAllowedNetwork(text: string): string | null {
  const parsed = parseAllowedNetwork(text)
  return 'problem' in parsed ? parsed.problem : null
}

/** An address or a network, optionally with a port. */
export const allowedNetwork = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfAllowedNetwork(text) === null,
    (issue) => faultOfAllowedNetwork(issue.input) ?? '',
  ),
)

function faultOfBaseUrl(text: string): string | null {
  if (!URL.canParse(text)) return 'is not a URL'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'does not begin with http:// or https://'
  if (url.port === '0') return 'has port 0, which no client can reach'
  const extras = [
    [url.username + url.password, 'a user name or password'],
    [url.pathname.slice(1), 'a path'],
    [url.search + url.hash, 'a query or fragment'],
  ].flatMap(([part, name]) => (part === '' ? [] : name))
  return extras.length === 0 ? null : `has ${extras.join(' and ')}; "${url.origin}" does not`
}

/** A URL such as `https://windfall.example.com`, without a trailing slash. */
export const baseUrl = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfBaseUrl(text) === null,
    (issue) => faultOfBaseUrl(issue.input) ?? '',
  ),
  v.transform((text) => new URL(text).origin),
)

function isTimeZone(name: string): boolean {
  // Intl accepts "+02:00" too, but an offset has no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/**
 * A time zone as IANA spells it: `utc` is `UTC`. A newer name that Intl replaces by an older one stays as it is, because
 * another zone would count all figures again.
 */
function spelledZone(name: string): string {
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
  const isSame = (zone: string): boolean => zone.toLowerCase() === name.toLowerCase()
  if (timeZone === name) return name
  const known = [timeZone, ...Intl.supportedValuesOf('timeZone')].find(isSame)
  return known ?? (name === name.toLowerCase() ? timeZone : name)
}

export const timeZone = v.pipe(
  v.string(),
  v.check(isTimeZone, (issue) => {
    const suggestion = closestMatch(issue.input, Intl.supportedValuesOf('timeZone'), (zone) => zone)
    return suggestion === null ? 'is not a time zone' : `is not a time zone, but "${suggestion}" is`
  }),
  v.transform(spelledZone),
)

export const currency = v.pipe(
  v.string(),
  v.check(
    (code) => Intl.supportedValuesOf('currency').includes(code),
    (issue) =>
      Intl.supportedValuesOf('currency').includes(issue.input.toUpperCase())
        ? `is not a currency, but "${issue.input.toUpperCase()}" is`
        : 'is not a currency',
  ),
)

export const slug = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, 'is not a slug'))
export const publishableKey = v.pipe(
  v.string(),
  v.regex(/^pk_live_[A-Za-z0-9]{24,64}$/, 'is not a publishable key'),
)
export const secretKey = v.pipe(v.string(), v.regex(/^sk_live_[A-Za-z0-9]{24,64}$/, 'is not a secret key'))

export const bundleId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9.-]{1,255}$/, 'is not a bundle id'))
export const teamId = v.pipe(v.string(), v.regex(/^[A-Z0-9]{10}$/, 'is not a team id'))
export const androidPackage = v.pipe(
  v.string(),
  v.maxLength(255, 'is longer than 255 characters'),
  v.regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/, 'is not an Android application id'),
)

/** An Apple ID of an app, with or without quotes. */
export const appleId = v.union([
  v.pipe(v.number(), v.safeInteger('is not an Apple id'), v.minValue(1, 'is not an Apple id')),
  v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/), v.transform(Number)),
])

export const issuerId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'is not an issuer id'),
)
export const keyId = v.pipe(v.string(), v.regex(/^[A-Z0-9]{8,20}$/, 'is not a key id'))

/** A vendor number, with or without quotes. */
export const vendorNumber = v.union([
  v.pipe(v.string(), v.regex(/^[1-9]\d{4,14}$/, 'is not a vendor number')),
  v.pipe(
    v.number(),
    v.safeInteger('is not a vendor number'),
    v.minValue(10_000, 'is not a vendor number'),
    v.transform(String),
  ),
])

/** The contents of a .p8 file. An environment variable of a single line has \n for its line endings. */
export const privateKey = v.pipe(
  v.string(),
  v.transform((text) => text.replaceAll('\\n', '\n').trim()),
  v.check(
    (text) => faultOfPrivateKey(text) === null,
    (issue) => faultOfPrivateKey(issue.input) ?? '',
  ),
)

function faultOfSchedule(text: string): string | null {
  if (text === 'off') return null
  const fields = text.trim().split(/\s+/)
  if (fields.length !== 5) return 'is not a cron pattern of five fields'
  try {
    const pattern = new Cron(text, { utcOffset: 0, mode: '5-part' })
    // Only a day of the month can be missing from every month. To compute the next run is the slow part of this check.
    const hasRuns = fields[2] === '*' || pattern.nextRun(new Date(0)) !== null
    return hasRuns ? null : 'never matches a date'
  } catch {
    return 'is not a cron pattern'
  }
}

/** An age recipient, as `age-keygen` prints it. */
export const ageRecipient = v.pipe(
  v.string(),
  v.regex(/^age1[a-z0-9]{20,}$/, 'is not an age recipient: age1 followed by lowercase letters and digits'),
)

/** An e-mail address. */
export const emailAddress = v.pipe(
  v.string(),
  v.email('is not an e-mail address'),
  v.maxLength(254, 'is too long'),
)

/** The form of an event type. Whether the type exists is checked when endpoints are declared. */
export const eventType = v.pipe(v.string(), v.regex(/^[a-z_]+\.[a-z_]+$/, 'is not an event type'))

/** A schedule: a cron pattern of minute, hour, day, month and weekday, or "off". */
export const schedule = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfSchedule(text) === null,
    (issue) => faultOfSchedule(issue.input) ?? '',
  ),
)
