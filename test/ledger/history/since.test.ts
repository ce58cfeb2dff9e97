import { expect, test } from 'vitest'
import { instantSince } from '../../../src/ledger/history/since.ts'
import { NOW } from '../../apple/samples.ts'

test.each([
  ['90m', NOW - 90 * 60_000],
  ['36h', NOW - 36 * 3_600_000],
  ['7d', NOW - 7 * 86_400_000],
  ['2w', NOW - 14 * 86_400_000],
  ['2026-05-01', Date.UTC(2026, 4, 1)],
  ['2026-05-01T08:30', Date.UTC(2026, 4, 1, 8, 30)],
  ['2026-05-01T08:30Z', Date.UTC(2026, 4, 1, 8, 30)],
  ['2026-05-01T08:30:15+02:00', Date.UTC(2026, 4, 1, 6, 30, 15)],
])('accepts %s', (text, at) => {
  expect(instantSince(text, NOW)).toBe(at)
})

test.each([
  '',
  'yesterday',
  '7',
  '7y',
  '-1d',
  '1.5h',
  '2026-02-30',
  '2026-13-01',
  '01.05.2026',
  '2026-05-01T25:00',
])('refuses “%s” and names the valid forms', (text) => {
  expect(() => instantSince(text, NOW)).toThrow(/neither a date \(2026-05-01.*7d/)
})

test.each(['0m', '2026-06-02', '2026-06-01T12:00Z'])('refuses %s, which is not in the past', (text) => {
  expect(() => instantSince(text, NOW)).toThrow('is not in the past')
})
