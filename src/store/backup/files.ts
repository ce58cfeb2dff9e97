/** Names scheduled backups and determines which backups have expired. */

/** The number of days, weeks and months whose newest backup is kept. */
export type Keep = { daily: number; weekly: number; monthly: number }

const NAME = /^windfall-(\d{4}-\d{2}-\d{2})T(\d{2})(\d{2})(\d{2})Z\.tar(\.zst)?(\.age)?$/
const DAY_MS = 86_400_000
/** 1970-01-05 was a Monday. */
const MONDAY_MS = 4 * DAY_MS

/** The name of a backup, such as `windfall-2026-11-22T030500Z.tar.zst`, in UTC. */
export const backupName = (at: number, encrypted: boolean): string =>
  `windfall-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z.tar.zst${encrypted ? '.age' : ''}`

/** When the scheduled backup of this name was made, in milliseconds since the epoch; null if no backup has this name. */
export function madeAtOf(name: string): number | null {
  const [, day, hours, minutes, seconds] = NAME.exec(name) ?? []
  return day === undefined ? null : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
}

/**
 * The backups to delete at `now`, in ms since the epoch. A backup is kept if it is the newest of one of the last days,
 * weeks (from Monday) or months that have a backup. The newest backup is always kept. Files with other names are ignored,
 * and so are backups of later than `now`: after the clock was ahead, they would take the places of all others.
 */
export function expiredBackups(names: readonly string[], keep: Keep, now: number): string[] {
  const backups = names
    .flatMap((name) => {
      const at = madeAtOf(name)
      return at === null || at > now ? [] : [{ name, at }]
    })
    .sort((a, b) => b.at - a.at)
  const keptBackups = new Set([
    ...backups.slice(0, 1),
    ...newestOfEach(backups, keep.daily, (at) => Math.floor(at / DAY_MS)),
    ...newestOfEach(backups, keep.weekly, (at) => Math.floor((at - MONDAY_MS) / (7 * DAY_MS))),
    ...newestOfEach(backups, keep.monthly, (at) => new Date(at).toISOString().slice(0, 7)),
  ])
  return backups.filter((backup) => !keptBackups.has(backup)).map(({ name }) => name)
}

function newestOfEach<Dated extends { at: number }>(
  newestFirst: readonly Dated[],
  count: number,
  periodOf: (at: number) => unknown,
): Dated[] {
  const newestByPeriod = new Map<unknown, Dated>()
  for (const item of newestFirst) {
    const period = periodOf(item.at)
    if (!newestByPeriod.has(period)) newestByPeriod.set(period, item)
  }
  return [...newestByPeriod.values()].slice(0, count)
}
