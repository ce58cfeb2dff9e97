/** What we compute: the sums that series are made of, with those of Apple's reports where these know more. */
import type { App } from '../../apps/apps.ts'
import type { Measure } from '../rows.ts'
import { indexOf, type Read, type Reading, type Tallies, tallyOf } from '../tallies.ts'
import type { JoinedSeries } from './joined.ts'
import { isLevel, type Joined, type JoinedMeasure } from './joining.ts'

/** What one measure of one app was joined from, for each day of the reading. */
export type JoinedFrom = { app_id: string; measure: Measure } & Omit<Joined, 'values'>

const JOINED: readonly Measure[] = [
  ...(['mrr', 'trials', 'revenue.new', 'revenue.renewal', 'revenue.one_time'] as const),
  ...(['revenue.refund', 'revenue.refunded_by_charge', 'revenue.proration'] as const),
  ...(['trial.began', 'trial.won', 'trial.ended', 'paid.direct', 'downloads'] as const),
]
const isJoined = (measure: Measure): measure is JoinedMeasure => JOINED.includes(measure)

/**
 * Sums what a reading asks for as `own` does, joined with the reports. A level changes by as much as it differs from the
 * day before, so that every figure made of the sums is made of levels that are shown. What asks for an attribute of
 * users is the ledger's alone.
 */
export function openJoinedTallies(joined: JoinedSeries, appOf: (app_id: string) => App | null) {
  async function read(
    reading: Reading,
    own: Read,
    basis: 'gross' | 'proceeds' = 'gross',
  ): Promise<{ tallies: Tallies; from: JoinedFrom[] }> {
    const wanted = reading.attribute === null ? reading.measures.filter(isJoined) : []
    const others = reading.measures.filter((measure) => !wanted.some((one) => one === measure))
    const tallies = others.length === 0 ? new Map() : await own({ ...reading, measures: others })
    const from: JoinedFrom[] = []
    for (const app_id of reading.apps) {
      for (const measure of wanted) from.push(...(await addOne(tallies, reading, { app_id, measure, basis })))
    }
    return { tallies, from }
  }

  type One = { app_id: string; measure: JoinedMeasure; basis: 'gross' | 'proceeds' }

  async function addOne(tallies: Tallies, reading: Reading, { app_id, measure, basis }: One) {
    const app = appOf(app_id)
    if (!app) return []
    const { values, ...rest } = await readOne(reading, app, measure, basis)
    for (const [value, amounts] of values)
      add(tallies, reading, reading.split === 'app' ? app_id : value, { measure, amounts })
    return [{ app_id, measure, ...rest }]
  }

  function readOne(
    { buckets, ...reading }: Reading,
    app: App,
    measure: JoinedMeasure,
    basis: 'gross' | 'proceeds',
  ): Promise<Joined> {
    const { from, until } = indexOf(buckets)
    // A level begins with what it was the day before.
    const range = { from: isLevel(measure) ? from - 1 : from, until }
    return joined.read({ ...reading, ...range, app, basis }, measure)
  }

  return { read }
}

type Values = { measure: JoinedMeasure; amounts: readonly { milli: number; count: number }[] }

function add(tallies: Tallies, { buckets }: Reading, value: string, { measure, amounts }: Values): void {
  const tally = tallyOf(tallies, value, measure, buckets.length)
  const { of } = indexOf(buckets)
  const [first, ...rest] = isLevel(measure) ? amounts : [NONE, ...amounts]
  let last = first ?? NONE
  tally.before.milli += last.milli
  tally.before.count += last.count
  for (const [day, amount] of rest.entries()) {
    const at = of[day] ?? 0
    const { milli, count } = isLevel(measure) ? last : NONE
    tally.milli[at] = (tally.milli[at] ?? 0) + amount.milli - milli
    tally.count[at] = (tally.count[at] ?? 0) + amount.count - count
    last = amount
  }
}

const NONE = { milli: 0, count: 0 }
