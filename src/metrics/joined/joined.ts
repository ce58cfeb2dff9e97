/** What we remember: each figure from Apple's reports or from the ledger, day by day, joined without a cliff. */
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import { kindOfMeasure, type ReportedMeasure, SUMMED_KINDS } from '../reports/cells.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { Commission } from '../reports/proceeds.ts'
import type { ReportedSums } from '../reports/sums.ts'
import type { Alike } from './alike.ts'
import type { Seams } from './cutovers.ts'
import {
  basisOf,
  dayIn,
  daysOf,
  EMPTY,
  GRACE_DAYS,
  heardDay,
  isLevel,
  isOfGrace,
  isStanding,
  type Joined,
  type JoinedAsk,
  type JoinedMeasure,
  joinsAt,
  known,
  NO_BASIS,
  valuesOf,
} from './days.ts'
import { type FlowMeasure, openJoinedFlows } from './flows.ts'
import { openJoinedLevels } from './levels.ts'
import type { Sources } from './sources.ts'

type Deps = {
  days: ReportedDays
  sums: ReportedSums
  sources: Sources
  seams: Seams
  alike: Alike
  commission: Commission
}

/** The longest period that a subscription is renewed for. */
const LONGEST_DAYS = 366

type Heard = Pick<JoinedAsk, 'shown' | 'app' | 'environment' | 'from' | 'until'>
type HeardDays = Pick<Joined, 'days' | 'joins' | 'basis'>
type OnlyReported = Omit<JoinedAsk, 'environment' | 'zone'> & Partial<Pick<JoinedAsk, 'environment'>>

export type JoinedSeries = ReturnType<typeof openJoined>

export function openJoined(deps: Deps) {
  const { days, sums, sources, seams } = deps
  const levels = openJoinedLevels(deps)
  const flows = openJoinedFlows(deps)

  /** Whether reports say anything of a measure of an app. */
  function isReported(
    { shown, app, environment }: Pick<JoinedAsk, 'shown' | 'app' | 'environment'>,
    measure: JoinedMeasure,
  ) {
    const kind = kindOfMeasure(measure)
    return (
      environment === 'production' &&
      sums.isReported({ generation: shown.id, app_id: app.id }, kind) &&
      days.there(shown.id, kind).length > 0
    )
  }

  /** A measure of an app, day by day, from where each day is known best. */
  function read(ask: JoinedAsk, measure: JoinedMeasure): Promise<Joined> {
    if (measure === 'downloads') return Promise.resolve(onlyReported(ask, measure))
    const isTold = isReported(ask, measure)
    if (isLevel(measure)) return isTold ? levels.read(ask, measure) : levels.ofLedger(ask, measure)
    return isTold ? flows.read(ask, measure) : ofLedger(ask, measure)
  }

  /** Whether `read` gives of a measure anything but the ledger's own sums. */
  const isOther = (
    ask: Pick<JoinedAsk, 'shown' | 'app' | 'environment' | 'basis'>,
    measure: JoinedMeasure,
  ): boolean => ask.basis === 'proceeds' || measure === 'downloads' || isReported(ask, measure)

  async function ofLedger(ask: JoinedAsk, measure: FlowMeasure): Promise<Joined> {
    const { lines, basis } = await flows.ofLedger({ ...ask, app_id: ask.app.id }, measure)
    const all = daysOf(ask).map((day) => known(day, 'ledger'))
    const values = valuesOf(lines.keys(), ask, dayIn(lines))
    return { days: all, values, joins: [], basis: basisOf(all, basis) }
  }

  /** A measure that reports alone tell of, on the days that there are. They tell nothing of the sandbox. */
  function onlyReported(ask: OnlyReported, measure: ReportedMeasure): Joined {
    const isTold = ask.environment !== 'sandbox'
    const there = new Set(isTold ? days.there(ask.shown.id, kindOfMeasure(measure)) : [])
    const lines = isTold ? sources.reports({ ...ask, app_id: ask.app.id }, measure) : EMPTY
    const told = daysOf(ask).map((day) => ({
      ...known(day, 'reports'),
      is_known: there.has(day),
      is_complete: there.has(day),
    }))
    return { days: told, values: valuesOf(lines.keys(), ask, dayIn(lines)), joins: [], basis: NO_BASIS }
  }

  /**
   * The days of which the ledger alone can tell, where it was not all that was asked: null for an app that no report has
   * ever told of.
   */
  function heard({ shown, app, environment, ...range }: Heard, measure: Measure): HeardDays | null {
    const place = { generation: shown.id, app_id: app.id }
    const isTold = environment === 'production' && SUMMED_KINDS.some((kind) => sums.isReported(place, kind))
    if (!isTold) return null
    const from = seams.heardFrom(app, shown)
    const all = daysOf(range).map((day) => heardDay(day, from, wholeFrom(app.id, from, measure)))
    return { days: all, joins: joinsAt(seams.of(app.id, 'flows')), basis: NO_BASIS }
  }

  /**
   * From when on a measure is whole. Of what stands there may be more than was heard of, until the ledger has as much as
   * the reports; and what was said of a renewal before anything was heard holds until that is due.
   */
  function wholeFrom(app_id: string, heard: DayNumber, measure: Measure): DayNumber {
    if (isOfGrace(measure)) return heard + GRACE_DAYS
    if (!isStanding(measure) || heard === -Infinity) return heard
    return Math.max(seams.of(app_id, 'mrr')?.day ?? Infinity, heard + LONGEST_DAYS)
  }

  return { read, isOther, onlyReported, heard }
}
