/** Defines the queries for daily amounts of the ledger and of Apple’s reports. */
import type { Environment } from '../../apple/payloads.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Breakdown } from '../sums/dimension_plan.ts'
import type { Unconverted } from '../sums/tallies.ts'
import type { Generation } from '../upkeep/generations.ts'

export type Zone = 'own' | 'pacific'
/** A range of days, both ends included. */
export type Range = { from: DayNumber; until: DayNumber }

/**
 * Only the amounts in this currency that no rate is known for, unconverted. `reads`: what was read of rows for the same
 * request. Each read goes through all subscriptions that wait for a rate, so that the measures of a chart share one.
 */
export type WithoutRate = { currency: string; reads: Map<string, Promise<Unconverted>> }
/** Which amounts to read: with `without_rate` those without a rate, otherwise all. */
export type AmountsToRead = { without_rate?: WithoutRate }

/** `shown`: the generation to read. `has_before`: includes the sum before `from`, as an amount of the day before. */
export type LedgerQuery = Breakdown &
  Range &
  AmountsToRead & {
    shown: Pick<Generation, 'id' | 'time_zone'>
    app_id: string
    environment: Environment
    zone: Zone
    has_before?: boolean
  }
export type ReportQuery = Breakdown & Range & AmountsToRead & { shown: Generation; app_id: string }
