/** Where the sources of exchange rates are. */

/** The origins of the sources, without a trailing slash; `{date}` is replaced by a day. */
export type RateOrigins = {
  frankfurter: string
  fawazahmed0: string
  fawazahmed0_fallback: string
  ecb: string
}

/** The public origins. */
export const RATE_ORIGINS: RateOrigins = {
  frankfurter: 'https://api.frankfurter.dev',
  fawazahmed0: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@{date}',
  fawazahmed0_fallback: 'https://{date}.currency-api.pages.dev',
  ecb: 'https://data-api.ecb.europa.eu',
}
