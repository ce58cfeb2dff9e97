/** What we remember: each figure from Apple's reports or from the ledger, day by day, joined without a cliff. */
import type { SettingsOf } from '../settings.ts'
import { kindOfMeasure, type ReportedMeasure } from './cells.ts'
import type { ReportedDays } from './days.ts'
import { type FlowMeasure, openJoinedFlows } from './joined_flows.ts'
import { openJoinedLevels } from './joined_levels.ts'
import {
  basisOf,
  dayIn,
  daysOf,
  EMPTY,
  isLevel,
  type Joined,
  type JoinedAsk,
  type JoinedMeasure,
  known,
  NO_BASIS,
  valuesOf,
} from './joining.ts'
import type { Commission } from './proceeds.ts'
import type { Seams } from './seams.ts'
import type { Sources } from './sources.ts'
import type { ReportedSums } from './sums.ts'

type Deps = {
  settingsOf: SettingsOf
  days: ReportedDays
  sums: ReportedSums
  sources: Sources
  seams: Seams
  commission: Commission
}

type OnlyReported = Omit<JoinedAsk, 'environment' | 'zone'> & Partial<Pick<JoinedAsk, 'environment'>>

export type JoinedSeries = ReturnType<typeof openJoined>

export function openJoined(deps: Deps) {
  const { days, sums, sources } = deps
  const levels = openJoinedLevels(deps)
  const flows = openJoinedFlows(deps)

  /** Whether reports say anything of a measure of an app. */
  function isReported({ app, environment }: Pick<JoinedAsk, 'app' | 'environment'>, measure: JoinedMeasure) {
    const kind = kindOfMeasure(measure)
    return (
      environment === 'production' &&
      sums.isReported(app.id, kind) &&
      days.there(app.organization_id, kind).length > 0
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
  const isOther = (ask: Pick<JoinedAsk, 'app' | 'environment' | 'basis'>, measure: JoinedMeasure): boolean =>
    ask.basis === 'proceeds' || measure === 'downloads' || isReported(ask, measure)

  async function ofLedger(ask: JoinedAsk, measure: FlowMeasure): Promise<Joined> {
    const { lines, basis } = await flows.ofLedger({ ...ask, app_id: ask.app.id }, measure)
    const all = daysOf(ask).map((day) => known(day, 'ledger'))
    const values = valuesOf(lines.keys(), ask, dayIn(lines))
    return { days: all, values, seam: null, basis: basisOf(all, basis) }
  }

  /** A measure that reports alone tell of, on the days that there are. They tell nothing of the sandbox. */
  function onlyReported(ask: OnlyReported, measure: ReportedMeasure): Joined {
    const isTold = ask.environment !== 'sandbox'
    const there = new Set(isTold ? days.there(ask.app.organization_id, kindOfMeasure(measure)) : [])
    const lines = isTold ? sources.reports({ ...ask, app_id: ask.app.id }, measure) : EMPTY
    const told = daysOf(ask).map((day) => ({
      ...known(day, 'reports'),
      is_known: there.has(day),
      is_complete: there.has(day),
    }))
    return { days: told, values: valuesOf(lines.keys(), ask, dayIn(lines)), seam: null, basis: NO_BASIS }
  }

  return { read, isOther, onlyReported }
}
