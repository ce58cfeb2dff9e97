import { expect, test } from 'vitest'
import { backupName, expiredBackups } from '../../../src/store/backup/files.ts'

const DAY = 86_400_000
const END = Date.UTC(2026, 10, 22, 3, 5)
const nightly = (days: number) =>
  Array.from({ length: days }, (_, back) => backupName(END - back * DAY, false))
const daysOf = (names: readonly string[]) => names.map((name) => name.slice(9, 19)).sort()

test('a name has the instant and whether the file is encrypted', () => {
  expect(backupName(END, false)).toBe('windfall-2026-11-22T030500Z.tar.zst')
  expect(backupName(END, true)).toBe('windfall-2026-11-22T030500Z.tar.zst.age')
})

test('keeps the newest backup of each of the last days, weeks and months', () => {
  const names = nightly(400)
  const expired = new Set(expiredBackups(names, { daily: 3, weekly: 2, monthly: 4 }, END))
  const kept = names.filter((name) => !expired.has(name))
  // 22 November 2026 is a Sunday, so the last day of its week.
  expect(daysOf(kept)).toEqual([
    '2026-08-31',
    '2026-09-30',
    '2026-10-31',
    '2026-11-15',
    '2026-11-20',
    '2026-11-21',
    '2026-11-22',
  ])
})

test('keeps the newest backup of a day, encrypted or not, compressed or not, and skips gaps', () => {
  const names = [
    'windfall-2026-11-01T030500Z.tar',
    'windfall-2026-11-01T120000Z.tar.age',
    'windfall-2026-11-01T130000Z.tar.zst.age',
    'windfall-2026-11-01T140000Z.tar.zst',
    'windfall-2026-06-01T030500Z.tar',
    'windfall-2026-05-31T030500Z.tar',
  ]
  expect(expiredBackups(names, { daily: 2, weekly: 0, monthly: 0 }, END)).toEqual([
    'windfall-2026-11-01T130000Z.tar.zst.age',
    'windfall-2026-11-01T120000Z.tar.age',
    'windfall-2026-11-01T030500Z.tar',
    'windfall-2026-05-31T030500Z.tar',
  ])
})

test('never deletes the newest backup or files with other names', () => {
  const names = [...nightly(2), 'windfall.tar', 'notes.txt', 'windfall-2020-01-01T000000Z.tar.partial']
  expect(expiredBackups(names, { daily: 0, weekly: 0, monthly: 0 }, END)).toEqual([
    'windfall-2026-11-21T030500Z.tar.zst',
  ])
})

test('backups of a clock that was ahead take no place, and are deleted once they expire', () => {
  const keep = { daily: 2, weekly: 0, monthly: 0 }
  const ahead = [1, 2, 3].map((days) => backupName(END + days * DAY, false))
  const expired = expiredBackups([...ahead, ...nightly(4)], keep, END)
  expect(daysOf(expired)).toEqual(['2026-11-19', '2026-11-20'])
  expect(daysOf(expiredBackups([...ahead, ...nightly(1)], keep, END + 4 * DAY))).toEqual([
    '2026-11-22',
    '2026-11-23',
  ])
})
