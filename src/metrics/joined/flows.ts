/** What we remember: what moved, from Apple's reports up to where the ledger heard everything, from the ledger after. */
import type { DayNumber } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import { kindOfMeasure, type MoneyMeasure, type ReportedMeasure } from '../reports/cells.ts'
import type { ReportedDays } from '../reports/days.ts'
import { type Amount, addTo, minus, NOTHING, type ValueLines } from '../reports/lines.ts'
import { type Commission, estimated } from '../reports/proceeds.ts'
import type { Seams } from './cutovers.ts'
import {
  type At,
  basisOf,
  dayIn,
  daysOf,
  EMPTY,
  GRACE_DAYS,
  isLoss,
  isOfGrace,
  isOfRefund,
  isRevenue,
  type Joined,
  type JoinedAsk,
  type JoinedDay,
  type JoinedMeasure,
  joinsAt,
  known,
  type LossMeasure,
  type RevenueMeasure,
  type Seam,
  standingIn,
  valuesOf,
} from './days.ts'
import type { LedgerAsk, Sources, Zone } from './sources.ts'

export type FlowMeasure = Exclude<JoinedMeasure, 'mrr' | 'trials' | 'downloads'>

type Deps = { days: ReportedDays; sources: Sources; seams: Seams; commission: Commission }
/** Sums, and how much of them is known how surely. */
type Owned = { lines: ValueLines; basis: ValueLines }

const NONE: Owned = { lines: EMPTY, basis: EMPTY }

export function openJoinedFlows({ days, sources, seams, commission }: Deps) {
  /** What the ledger has of a measure, in money as it is asked for. */
  async function ofLedger(ask: LedgerAsk & Pick<JoinedAsk, 'basis'>, measure: FlowMeasure): Promise<Owned> {
    if (ask.basis === 'proceeds' && isRevenue(measure)) return sources.proceedsOfLedger(ask, measure)
    return { lines: await sources.ledger(ask, { [measure]: 1 }), basis: EMPTY }
  }

  /** What reports have of a measure; their proceeds are exact, and estimated where a report does not name them. */
  function ofReports(ask: JoinedAsk, measure: FlowMeasure): Owned {
    const read = (one: ReportedMeasure) => sources.reports({ ...ask, app_id: ask.app.id }, one)
    // What was lost is below zero in the ledger, and so is what of it came back.
    const exact = together(reportedAs(measure, ask).map(read), isLoss(measure) ? -1 : 1)
    if (ask.basis !== 'proceeds') return { lines: exact, basis: EMPTY }
    const left = isRevenue(measure) ? estimatesOf(read(inReports(measure, 'unshared'))) : EMPTY
    const basis: ValueLines = new Map()
    addAll(basis, exact.values(), 'exact')
    addAll(basis, left.values(), 'estimated')
    return { lines: together([exact, left]), basis }
  }

  /** What is left of amounts by Apple's commission. */
  function estimatesOf(lines: ValueLines): ValueLines {
    const left: ValueLines = new Map()
    for (const [value, line] of lines)
      for (const [day, { milli, count }] of line)
        addTo(left, value, day, { milli: estimated(milli, commission), count })
    return left
  }

  /** A flow of reports before the seam and of the ledger after it. */
  async function read(ask: JoinedAsk, measure: FlowMeasure): Promise<Joined> {
    const seam = seams.of(ask.app.id, 'flows')
    const there = new Set(days.there(ask.shown.id, kindOfMeasure(measure)))
    const own = { ...ask, app_id: ask.app.id }
    const isPacific = ask.zone === 'pacific' || ask.shown.time_zone === PACIFIC
    const place = { there, seam, isPacific, measure }
    const parts = daysOf(ask).map((day) => ({ ...flowDay(day, place), part: partOf(day, place) }))
    const has = (part: Part): boolean => parts.some((one) => one.part === part)
    const since = parts.find(({ part }) => part === 'ledger')?.day ?? null
    const from: Record<Part, Owned> = {
      reports: ofReports(ask, measure),
      ledger: since === null ? NONE : await ofLedger({ ...own, from: since }, measure),
      hole: has('hole') ? await ofLedger({ ...own, zone: 'pacific' }, measure) : NONE,
      seam: seam && has('seam') ? await restOf(seam, own, measure) : NONE,
    }
    const byDay = new Map(parts.map((one) => [one.day, one]))
    const at: At = (value) => (day) => {
      const one = byDay.get(day)
      return one?.is_known ? dayIn(from[one.part].lines)(value)(day) : NOTHING
    }
    const basis = basisOf([], EMPTY)
    for (const name of PARTS) {
      const some = basisOf(
        parts.filter(({ part }) => part === name),
        from[name].basis,
      )
      for (const one of ['exact', 'ratio', 'estimated'] as const) basis[one] += some[one]
    }
    const keys = PARTS.flatMap((part) => [...from[part].lines.keys()])
    const all = parts.map(({ part: _, ...day }) => day)
    return { days: all, values: valuesOf(keys, ask, at), joins: joinsAt(seam), basis }
  }

  /** What is left of the day of the zone in which the seam is: from that instant on, so that nothing counts twice. */
  async function restOf(
    { day }: Seam,
    ask: LedgerAsk & Pick<JoinedAsk, 'basis'>,
    measure: FlowMeasure,
  ): Promise<Owned> {
    const upTo = (until: DayNumber, zone: Zone) =>
      ofLedger({ ...ask, from: until, until, zone, has_before: true }, measure)
    const [own, before] = [await upTo(day, ask.zone), await upTo(day - 1, 'pacific')]
    return { lines: restIn(own.lines, before.lines, day), basis: restIn(own.basis, before.basis, day) }
  }

  return { read, ofLedger }
}

/** Where a day's figure is from. hole: what the ledger happens to know of a day that no report tells of. */
type Part = 'reports' | 'ledger' | 'hole' | 'seam'
const PARTS = ['reports', 'ledger', 'hole', 'seam'] as const satisfies Part[]

type Place = { there: ReadonlySet<DayNumber>; seam: Seam | null; isPacific: boolean; measure: FlowMeasure }

function partOf(day: DayNumber, { there, seam, isPacific }: Place): Part {
  if (seam && day >= seam.day) return day === seam.day && !isPacific ? 'seam' : 'ledger'
  return there.has(day) ? 'reports' : 'hole'
}

/**
 * Before the seam a day that no report tells of is not whole. On the day on which the first was heard it is at least what
 * was heard; before that nobody knows. Reports tell refunds on their own day alone, and of no loss that a refund is why;
 * the ledger knows what depends on a grace after a while only.
 */
function flowDay(day: DayNumber, place: Place): JoinedDay {
  const part = partOf(day, place)
  const { seam, measure } = place
  if (part === 'reports') {
    const is_complete = measure !== 'revenue.refunded_by_charge'
    return { ...known(day, 'reports'), is_known: !isOfRefund(measure), is_complete }
  }
  return {
    ...known(day, 'ledger'),
    is_known: part !== 'hole' || (seam !== null && day >= seam.day - 1),
    is_complete: part === 'ledger' && !(isOfGrace(measure) && day < (seam?.day ?? day) + GRACE_DAYS),
  }
}

function restIn(own: ValueLines, before: ValueLines, day: DayNumber): ValueLines {
  const rest: ValueLines = new Map()
  for (const value of new Set([...own.keys(), ...before.keys()])) {
    addTo(rest, value, day, minus(standingIn(own)(value)(day), standingIn(before)(value)(day)))
  }
  return rest
}

function together(all: readonly ValueLines[], sign: 1 | -1 = 1): ValueLines {
  const lines: ValueLines = new Map()
  for (const [value, line] of all.flatMap((one) => [...one])) addAll(lines, [line], value, sign)
  return lines
}

/** Adds every day of some lines to the line of one value, or takes it away. */
function addAll(
  to: ValueLines,
  lines: Iterable<ReadonlyMap<DayNumber, Amount>>,
  value: string,
  sign: 1 | -1 = 1,
): void {
  for (const line of lines)
    for (const [day, { milli, count }] of line)
      addTo(to, value, day, { milli: sign * milli, count: sign * count })
}

/** As the reports have it: what has to be summed. */
function reportedAs(measure: FlowMeasure, { basis }: JoinedAsk): ReportedMeasure[] {
  if (measure === 'trial.ended') return ['trial.won', 'trial.lost']
  if (isRevenue(measure)) return [inReports(measure, basis === 'proceeds' ? 'proceeds' : 'revenue')]
  return isLoss(measure) ? lossInReports(measure) : [measure]
}

function lossInReports(measure: LossMeasure): ReportedMeasure[] {
  if (isOfRefund(measure)) return []
  return [measure.replace('mrr.churn_', 'churned.') as ReportedMeasure]
}

/** A measure of revenue as reports have it: what was paid, or the developer's part of it where it is named or is not. */
function inReports(measure: RevenueMeasure, part: 'revenue' | 'proceeds' | 'unshared'): MoneyMeasure {
  const own = measure === 'revenue.refunded_by_charge' ? 'revenue.refund' : measure
  return own.replace('revenue', part) as MoneyMeasure
}
