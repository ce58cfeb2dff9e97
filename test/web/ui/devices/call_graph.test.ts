/** The chart of labels: shares by day and reason. */
import { expect, test } from 'vitest'
import {
  callGraph,
  reasonsText,
  unverifiedCount,
  verifiedShare,
} from '../../../../src/web/ui/settings/devices/call_graph.ts'
import type { Calls } from '../../../../src/web/ui/settings/devices/device_queries.ts'

const row = (
  counted_on: string,
  verification: 'verified' | 'unverified',
  unattested: string,
  calls: number,
) => ({ counted_on, endpoint: 'identify' as const, verification, unattested, calls })
const ANSWER: Calls = {
  from_on: '2026-06-01',
  until_on: '2026-06-03',
  calls: [
    row('2026-06-01', 'unverified', '', 1),
    row('2026-06-01', 'unverified', 'simulator', 2),
    row('2026-06-01', 'verified', '', 1),
    row('2026-06-03', 'verified', '', 6),
    { ...row('2026-06-03', 'unverified', 'some-later-reason', 5), endpoint: 'attribute' },
  ],
}

test('the shares of a day add up to 1, verified first, and a day without calls has none', () => {
  const { on, lines, complete, figureOf } = callGraph(ANSWER, 'identify')
  expect(on).toEqual(['2026-06-01', '2026-06-02', '2026-06-03'])
  expect(complete).toEqual([true, true, false])
  expect(lines.map(({ title, hue, values }) => [title, hue, values])).toEqual([
    ['Verified', 1, [0.25, null, 1]],
    ['Simulator', 2, [0.5, null, 0]],
    ['Not attested', 3, [0.25, null, 0]],
  ])
  expect(lines.map(figureOf)).toEqual([0.7, 0.2, 0.1])
  expect(verifiedShare(ANSWER, 'identify')).toBe(0.7)
})

test('links are counted apart, and an unknown reason is shown as it is', () => {
  expect(callGraph(ANSWER, 'attribute').lines.map(({ title }) => title)).toEqual(['some-later-reason'])
  expect(verifiedShare(ANSWER, 'attribute')).toBe(0)
  expect(verifiedShare({ ...ANSWER, calls: [] }, 'identify')).toBeNull()
})

test('calls of which none is verified are counted, with the reasons that there are', () => {
  const calls = [row('2026-06-01', 'unverified', '', 3), row('2026-06-02', 'unverified', 'simulator', 1)]
  expect(unverifiedCount({ ...ANSWER, calls }, 'identify')).toBe(4)
  expect(reasonsText({ ...ANSWER, calls }, 'identify')).toBe('Simulator: 25.0%.')
  expect(unverifiedCount({ ...ANSWER, calls }, 'attribute')).toBeNull()
  expect(unverifiedCount(ANSWER, 'identify')).toBeNull()
})
