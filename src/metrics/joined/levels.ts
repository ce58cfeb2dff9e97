/** What we remember: levels of Apple's reports, carried on by what the ledger saw since, and the ledger's own. */
import type { DayNumber } from '../lineage/calendar.ts'
import type { ReportedDays } from '../reports/days.ts'
import { type Amount, addTo, minus, NOTHING, plus, type ValueLines } from '../reports/lines.ts'
import { type Commission, estimated } from '../reports/proceeds.ts'
import type { Alike } from './alike.ts'
import type { Seams } from './cutovers.ts'
import {
  type At,
  basisOf,
  dayIn,
  daysOf,
  EMPTY,
  type Join,
  type Joined,
  type JoinedAsk,
  type JoinedDay,
  joinsAt,
  known,
  type Level,
  type Seam,
  standingIn,
  valuesOf,
} from './days.ts'
import type { Sources } from './sources.ts'

type Deps = { days: ReportedDays; sources: Sources; seams: Seams; alike: Alike; commission: Commission }

/** What reports tell already is no change of the level that they tell. */
const MOVED = { mrr: 1, 'mrr.opening': -1, 'mrr.repriced': -1, 'mrr.fx': -1 } as const

export function openJoinedLevels({ days, sources, seams, alike, commission }: Deps) {
  const ledgerAsk = (ask: JoinedAsk) => ({ ...ask, app_id: ask.app.id, has_before: true })

  /** A level of the ledger alone. */
  async function ofLedger(ask: JoinedAsk, level: Level): Promise<Joined> {
    const lines = await sources.ledger(ledgerAsk(ask), { [level]: 1 })
    const all = daysOf(ask).map((day) => known(day, 'ledger'))
    return told(ask, level, { days: all, at: standingIn(lines), keys: lines.keys(), joins: [] })
  }

  /** A level of reports, up to the last that there is, then anchored to that; the ledger's alone after the seam. */
  async function read(ask: JoinedAsk, level: Level): Promise<Joined> {
    const seam = seams.of(ask.app.id, level)
    const there = days.there(ask.shown.id, 'subscription')
    const anchorOf = newestOf(there)
    const all = daysOf(ask).map((day) => levelDay(day, anchorOf(day), seam, there.at(-1) ?? day))
    const first = there[0] ?? 0
    const isInterrupted = await knowTheBeginning(ask, level, all, first)
    const joins = [
      ...(isInterrupted ? [{ ...seams.at(first), to: 'reports' as const }] : []),
      ...joinsAt(seam),
    ]
    const from = anchorOf(ask.from) ?? ask.from
    const reported = sources.reports({ ...ask, app_id: ask.app.id, from }, level)
    const needsLedger = all.some(({ source }) => source === 'ledger')
    const own = needsLedger ? await sources.ledger(ledgerAsk(ask), { [level]: 1 }) : EMPTY
    const isAnchored = all.some(({ source }) => source === 'anchored')
    const moved = isAnchored ? await moves({ ...ask, from }, level) : { keys: [], since: () => NOTHING }
    const [atDay, ownAt] = [dayIn(reported), standingIn(own)]
    const byDay = new Map(all.map((one) => [one.day, one]))
    const at: At = (value) => (day) => {
      const one = byDay.get(day)
      if (!one?.is_known) return NOTHING
      if (one.source === 'ledger') return ownAt(value)(day)
      const anchor = anchorOf(day) ?? day
      const level = atDay(value)(anchor)
      return one.source === 'reports' ? level : plus(level, moved.since(value, anchor, day))
    }
    const keys = [...reported.keys(), ...own.keys(), ...moved.keys]
    return told(ask, level, { days: all, at, keys, joins })
  }

  type Found = { days: JoinedDay[]; at: At; keys: Iterable<string>; joins: Join[] }

  function told(ask: JoinedAsk, level: Level, { days: all, at, keys, joins }: Found): Joined {
    const isProceeds = ask.basis === 'proceeds' && level === 'mrr'
    if (!isProceeds) return { days: all, joins, values: valuesOf(keys, ask, at), basis: basisOf([], EMPTY) }
    const own = proceedsOf(ask, at)
    const values = valuesOf(keys, ask, own.at)
    const by: ValueLines = new Map()
    const basisOn = (value: string, { source, day }: JoinedDay) =>
      !own.isTold(value, day) ? 'estimated' : source === 'reports' ? 'exact' : 'ratio'
    for (const [value, amounts] of values)
      for (const [index, one] of all.entries())
        addTo(by, basisOn(value, one), one.day, amounts[index] ?? NOTHING)
    return { days: all, joins, values, basis: basisOf(all, by) }
  }

  /** The part of a level that the developer gets, as the newest report up to each day has it; else as estimated. */
  function proceedsOf(ask: JoinedAsk, at: At) {
    const anchorOf = newestOf(days.there(ask.shown.id, 'subscription'))
    const from = anchorOf(ask.from) ?? ask.from
    const range = { ...ask, app_id: ask.app.id, from }
    const [gross, net, unshared] = (['mrr', 'mrr.proceeds', 'mrr.unshared'] as const).map((measure) =>
      dayIn(sources.reports(range, measure)),
    )
    const partsOf = (value: string, day: DayNumber) => {
      const anchor = ask.environment === 'production' ? anchorOf(day) : null
      const milliOf = (one: At | undefined) => (anchor === null ? 0 : (one?.(value)(anchor).milli ?? 0))
      const left = milliOf(unshared)
      return { whole: milliOf(gross), part: milliOf(net) + estimated(left, commission), isTold: left === 0 }
    }
    const own: At = (value) => (day) => {
      const { milli, count } = at(value)(day)
      const { whole, part } = partsOf(value, day)
      return { milli: whole === 0 ? estimated(milli, commission) : Math.round((milli * part) / whole), count }
    }
    const isTold = (value: string, day: DayNumber): boolean => {
      const parts = partsOf(value, day)
      return parts.whole !== 0 && parts.isTold
    }
    return { at: own, isTold }
  }

  /** By how much the ledger says that a level changed from the end of a Pacific day to that of a day of the zone. */
  async function moves(ask: JoinedAsk, level: Level) {
    const weights = level === 'mrr' ? MOVED : { trials: 1 }
    const own = await sources.ledger(ledgerAsk(ask), weights)
    const pacific = await sources.ledger({ ...ledgerAsk(ask), zone: 'pacific' }, weights)
    const [until, since] = [standingIn(own), standingIn(pacific)]
    return {
      keys: [...own.keys(), ...pacific.keys()],
      since: (value: string, anchor: DayNumber, day: DayNumber): Amount =>
        minus(until(value)(day), since(value)(anchor)),
    }
  }

  /**
   * Whether the ledger has what the first report has: then what it has before that is shown, since nothing jumps there.
   * It is whole from where it heard everything.
   */
  async function knowTheBeginning(ask: JoinedAsk, level: Level, all: JoinedDay[], first: DayNumber) {
    const before = all.filter(({ is_known }) => !is_known)
    if (before.length === 0) return false
    const seam = seams.of(ask.app.id, level)
    const range = { shown: ask.shown, app_id: ask.app.id, from: first, until: first }
    const isWhole = seam !== null && seam.day <= first
    if (!isWhole && !(await alike.on(range, level))(first)) return false
    const heard = seams.of(ask.app.id, 'flows')?.day ?? -Infinity
    for (const one of before) Object.assign(one, { is_known: true, is_complete: one.day >= heard })
    return !isWhole
  }

  return { read, ofLedger }
}

/** The newest of some days, in order, that is not after a day; null before the first. */
function newestOf(there: readonly DayNumber[]): (day: DayNumber) => DayNumber | null {
  return (day) => {
    let [low, high] = [0, there.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((there[middle] ?? 0) <= day) low = middle + 1
      else high = middle
    }
    return there[low - 1] ?? null
  }
}

/** A day without a report of its own goes on from the last that there is; before the first there is none. */
function levelDay(day: DayNumber, anchor: DayNumber | null, seam: Seam | null, last: DayNumber): JoinedDay {
  if (seam && day >= seam.day) return known(day, 'ledger')
  if (anchor === null) return { ...known(day, 'ledger'), is_known: false }
  if (anchor === day) return known(day, 'reports')
  return { ...known(day, 'anchored'), is_complete: day > last }
}
