/** The names of scheduled backups, and which backups have expired. */

/** For how many days, weeks and months the newest backup is kept. */
export type Keep = { daily: number; weekly: number; monthly: number }

const NAME = /^windfall-(\d{4}-\d{2}-\d{2})T(\d{2})(\d{2})(\d{2})Z\.tar(\.age)?$/
const DAY_MS = 86_400_000
/** 1970-01-05 was a Monday. */
const MONDAY_MS = 4 * DAY_MS

/** The name of a backup, such as `windfall-2026-11-22T030500Z.tar`, in UTC. */
export const backupName = (at: number, encrypted: boolean): string =>
  `windfall-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z.tar${encrypted ? '.age' : ''}`

/**
 * The backups that can be deleted: those that are not the newest of one of the last days, weeks (from Monday) or months
 * with a backup. The newest backup always stays. Files with other names are ignored.
 */
export function expiredBackups(names: readonly string[], keep: Keep): string[] {
  const backups = names
    .flatMap((name) => {
      const [, day, hours, minutes, seconds] = NAME.exec(name) ?? []
      return day === undefined ? [] : [{ name, at: Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) }]
    })
    .sort((a, b) => b.at - a.at)
  const kept = new Set([
    ...backups.slice(0, 1),
    ...newestOfEach(backups, keep.daily, (at) => Math.floor(at / DAY_MS)),
    ...newestOfEach(backups, keep.weekly, (at) => Math.floor((at - MONDAY_MS) / (7 * DAY_MS))),
    ...newestOfEach(backups, keep.monthly, (at) => new Date(at).toISOString().slice(0, 7)),
  ])
  return backups.filter((one) => !kept.has(one)).map(({ name }) => name)
}

function newestOfEach<Dated extends { at: number }>(
  newestFirst: readonly Dated[],
  count: number,
  periodOf: (at: number) => unknown,
): Dated[] {
  const newest = new Map<unknown, Dated>()
  for (const one of newestFirst) {
    const period = periodOf(one.at)
    if (!newest.has(period)) newest.set(period, one)
  }
  return [...newest.values()].slice(0, count)
}
