import { expect, test } from 'vitest'
import { REASONS, type ReasonRange } from '../../../../src/metrics/series/reasons.ts'
import { REASON_WORDS, reasonNotes } from '../../../../src/web/ui/charts/reason_words.tsx'
import { graphOf } from '../../../../src/web/ui/metrics/lines.ts'
import { exactly } from '../../../../src/web/ui/metrics/shown_points.ts'
import { answerOf, moneyPoints, seriesOf } from '../metric_answers.ts'

const range = (reason: ReasonRange['reason'], from_on: string, until_on: string): ReasonRange => ({
  reason,
  from_on,
  until_on,
})
const days = { from_on: '2026-11-01', until_on: '2026-11-21' }

test('each code of the API has words, which differ', () => {
  expect(Object.keys(REASON_WORDS).sort()).toEqual([...REASONS].sort())
  expect(new Set(Object.values(REASON_WORDS)).size).toBe(REASONS.length)
})

test('notes say the days of each reason within the range, but not of what the newest figures always have', () => {
  const total = {
    reasons: [
      range('before_ledger', '2026-10-01', '2026-11-02'),
      range('suspect_report', '2026-11-03', '2026-11-05'),
      ...['07', '09', '11'].map((day) => range('suspect_report', `2026-11-${day}`, `2026-11-${day}`)),
      range('unfinished', '2026-11-21', '2026-11-21'),
    ],
  }
  // Other series have the same days.
  const part = { reasons: [range('suspect_report', '2026-11-03', '2026-11-05')] }
  expect(reasonNotes([total, part], days)).toEqual([
    'Nov 1, 2026 – Nov 2, 2026: Apple’s notifications began later.',
    'Nov 3, 2026 – Nov 5, 2026, Nov 7, 2026, Nov 9, 2026 and 1 more: Apple’s report looks incomplete.',
  ])
})

test('a chart has the reasons of each point, and of a part of a week those of its days', () => {
  const points = moneyPoints([1, 2, 3])
  const reasons = [
    range('no_reports', '2026-11-02', '2026-11-03'),
    range('unfinished', '2026-11-03', '2026-11-03'),
  ]
  const part = seriesOf(points, { part: 'new', reasons: [range('joined', '2026-11-01', '2026-11-01')] })
  const { series, ...answer } = answerOf({ series: [seriesOf(points, { reasons }), part] })
  const [total, ...parts] = series.map((one) => ({
    ...one,
    range: { ...one.range, complete: true, reasons: [], clipped: [] },
  }))
  const clipped = { of: '2026-11-01', on: '2026-11-01', until_on: '2026-11-01', milli: 1, complete: false }
  const whole = {
    ...answer,
    previous: null,
    range: days,
    series: [
      { ...total, range: { ...total?.range, clipped: [{ ...clipped, reasons: ['behind' as const] }] } },
      ...parts,
    ],
  }
  const drawn = { style: 'bar' as const, isInParts: true, title: 'Revenue' }
  const graph = graphOf(exactly(whole as Parameters<typeof exactly>[0]), undefined, [], drawn)
  expect([0, 1, 2].map((index) => graph.reasonsAt?.(index))).toEqual([
    ['behind', 'joined'],
    ['no_reports'],
    ['no_reports', 'unfinished'],
  ])
})
