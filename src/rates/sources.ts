/** The sources of exchange rates, in the order in which Windfall queries them. */
import { ecb } from './ecb.ts'
import { fawazahmed0 } from './fawazahmed0.ts'
import { frankfurter } from './frankfurter.ts'
import type { Source } from './source.ts'

/** The origins of the sources, without a trailing slash; `{date}` is replaced by a day. */
export type RateOrigins = {
  frankfurter: string
  fawazahmed0: string
  fawazahmed0_fallback: string
  ecb: string
}

export const RATE_ORIGINS: RateOrigins = {
  frankfurter: 'https://api.frankfurter.dev',
  fawazahmed0: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@{date}',
  fawazahmed0_fallback: 'https://{date}.currency-api.pages.dev',
  ecb: 'https://data-api.ecb.europa.eu',
}

/** Central banks first, then a source with every currency but no warranty, then the ECB as the most reliable. */
export const sourcesAt = (origins: RateOrigins): readonly Source[] => [
  frankfurter(origins.frankfurter),
  fawazahmed0(origins.fawazahmed0, origins.fawazahmed0_fallback),
  ecb(origins.ecb),
]
