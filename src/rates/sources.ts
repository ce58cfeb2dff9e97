/** The sources of exchange rates, in the order in which Windfall queries them. */
import { ecb } from './ecb.ts'
import { fawazahmed0 } from './fawazahmed0.ts'
import { frankfurter } from './frankfurter.ts'
import type { RateOrigins } from './origins.ts'
import type { Source } from './source.ts'

/** Central banks first, then a source with every currency but no warranty, then the ECB as the most reliable. */
export const sourcesAt = (origins: RateOrigins): readonly Source[] => [
  frankfurter(origins.frankfurter),
  fawazahmed0(origins.fawazahmed0, origins.fawazahmed0_fallback),
  ecb(origins.ecb),
]
