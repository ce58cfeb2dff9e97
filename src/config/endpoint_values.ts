/** The rules for endpoints of webhooks. config.toml and the API validate with the same ones. */
import * as v from 'valibot'
import { wholeNumber } from './values.ts'

const MAX_HEADERS = 10
const MAX_SECRETS = 3
/** The bytes of a signing secret, as Standard Webhooks recommends. */
const SECRET_BYTES = { min: 24, max: 64 }

/** The stable name of an endpoint. Dots are permitted, so that a host name can be one. */
export const endpointName = v.pipe(
  v.string(),
  v.regex(
    /^[a-z0-9][a-z0-9.-]{0,39}$/,
    'is not a name of 1 to 40 lowercase letters, digits, dots and hyphens',
  ),
)

/** The URL of an endpoint. Its address is checked whenever the dispatcher connects. */
export const endpointUrl = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfTargetUrl(text) === null,
    (issue) => faultOfTargetUrl(issue.input) ?? '',
  ),
)

/** The maximum number of characters of a URL. */
const MAX_URL_LENGTH = 2048

/**
 * What is wrong with the URL of an outgoing request, as the end of a sentence about it; null if nothing is. It must be
 * an absolute http or https URL without user info, fragment and port 0, of at most 2,048 characters.
 */
export function faultOfTargetUrl(text: string): string | null {
  if (text.length > MAX_URL_LENGTH) return 'is longer than 2,048 characters'
  if (/[\s\p{Cc}]/u.test(text)) return 'contains white space or a control character'
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https') return 'does not begin with https://'
  // The URL parser skips extra slashes, so that the first part of the path would become the host.
  if (!/^[a-z]+:\/\/[^/\\?#]/i.test(text)) return 'has no host'
  if (!URL.canParse(text)) return 'has an invalid host or port'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    return 'contains a user name or a password; send credentials in a header'
  if (text.includes('#')) return 'has a fragment (#), which is never sent'
  return url.port === '0' ? 'has port 0, to which nothing can connect' : null
}

/** Headers that Windfall or HTTP sets. `proxy-…` and the headers of one connection are among them. */
const RESERVED_HEADERS =
  /^(host|content-.*|webhook-.*|windfall-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/

/** The owner's headers by name. Names become lowercase. */
export const endpointHeaders = v.pipe(
  v.record(v.string(), v.string()),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const input = dataset.value
    const names = Object.keys(input)
    if (names.length > MAX_HEADERS) addIssue({ message: `has more than ${MAX_HEADERS} headers` })
    for (const [index, key] of names.entries()) {
      const value = input[key] ?? ''
      const message = faultOfHeader(key, value, names.slice(0, index))
      if (message !== null)
        addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value }] })
    }
  }),
  v.transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  ),
)

function faultOfHeader(name: string, value: string, earlier: readonly string[]): string | null {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/.test(lower)) return 'has a name that is not a header name'
  if (RESERVED_HEADERS.test(lower)) return 'is a header that Windfall or HTTP sets'
  if (earlier.some((other) => other.toLowerCase() === lower)) return 'is a header that is there twice'
  return /^[\x21-\x7e](?:[\t\x20-\x7e]{0,4094}[\x21-\x7e])?$/.test(value)
    ? null
    : 'is not 1 to 4,096 visible ASCII characters'
}

/** The most requests in a second to an endpoint. */
export const endpointPace = wholeNumber(1, 1_000)

/** A signing secret: `whsec_` and 24 to 64 bytes in base64. */
export const endpointSecret = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfSecret(text) === null,
    (issue) => faultOfSecret(issue.input) ?? '',
  ),
)

/** The signing secrets of an endpoint, newest first. Each signs. */
export const endpointSecrets = v.pipe(
  v.array(endpointSecret),
  v.maxLength(MAX_SECRETS, `has more than ${MAX_SECRETS} secrets`),
)

function faultOfSecret(text: string): string | null {
  const [, base64] = /^whsec_(.*)$/s.exec(text) ?? []
  if (base64 === undefined) return 'does not begin with whsec_'
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return 'is not base64 after whsec_'
  const { min, max } = SECRET_BYTES
  return bytes.length < min || bytes.length > max ? `does not have ${min} to ${max} bytes in base64` : null
}
