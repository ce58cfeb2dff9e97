/** The headers of every response and every page: security, caching, CORS. */

/** Headers as alternating names and values, the fastest form for Node.js. */
export type FlatHeaders = readonly string[]

const SECURITY_HEADERS: FlatHeaders = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cross-origin-resource-policy',
  'same-origin',
  'permissions-policy',
  'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
]

/** The content security policy of data, which loads nothing where a browser shows it. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Headers of every response, unless the handler sets its own. */
export const COMMON_HEADERS: FlatHeaders = [
  ...SECURITY_HEADERS,
  'content-security-policy',
  DATA_POLICY,
  'cache-control',
  'no-store',
]

/** The header of every https response. It forbids browsers to use http for a year, also below the host of the server. */
export const HTTPS_HEADERS: FlatHeaders = ['strict-transport-security', 'max-age=31536000; includeSubDomains']

/** The content security policy of pages and their scripts and workers: only resources of this server, and no framing. */
const PAGE_POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
  "manifest-src 'self'; worker-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
].join('; ')

const SCRIPT_HEADERS: FlatHeaders = ['content-security-policy', PAGE_POLICY]
/** No search engine lists a page, not even the sign-in page. */
const PAGE_HEADERS: FlatHeaders = [...SCRIPT_HEADERS, 'x-robots-tag', 'noindex']
/** Pictures have their styles inside. */
const PICTURE_HEADERS: FlatHeaders = ['content-security-policy', `${DATA_POLICY}; style-src 'unsafe-inline'`]

/** Headers of every response with a content type, before `COMMON_HEADERS`, unless the handler sets its own. */
export function headersOfType(contentType: string): FlatHeaders {
  if (/^text\/html\b/.test(contentType)) return PAGE_HEADERS
  if (/^text\/javascript\b/.test(contentType)) return SCRIPT_HEADERS
  return contentType.startsWith('image/svg+xml') ? PICTURE_HEADERS : []
}

/** The CORS headers of routes that are open to all web pages, for requests with an Origin header. */
export const CORS_HEADERS: FlatHeaders = [
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'retry-after, ratelimit, ratelimit-policy, x-request-id',
]

/** The headers of the response to a CORS preflight request (Fetch standard). */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers':
      'authorization, content-type, x-windfall-assertion, x-windfall-unattested, x-revenuehog-unattested',
    'access-control-max-age': '86400',
  }
}
