/** Computes rates from official pegs, for days that no source has. */
import { BASE, PEGS } from './currencies.ts'
import { nanoOf, productNano } from './exact.ts'
import type { Rate } from './judging.ts'

/** The rate of a pegged currency on a day, given the euro's in billionths (null: unknown); null without a peg. */
export function peggedRate(currency: string, on: string, eur_nano: number | null): Rate | null {
  const peg = PEGS[currency]
  if (peg === undefined) return null
  const anchor_nano = peg.anchor === BASE ? nanoOf('1') : eur_nano
  const per_usd_nano = anchor_nano === null ? null : productNano(peg.rate, anchor_nano)
  return per_usd_nano === null ? null : { currency, on, per_usd_nano }
}
