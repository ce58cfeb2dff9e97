import { expect, test } from 'vitest'
import { type Annotation, notesByPoint } from '../../../../src/web/ui/annotations/annotation_query.ts'

/** Annotations as the API lists them: newest day first. */
const annotations = (...days: string[]) =>
  days.map((annotated_on) => ({ annotated_on, text: annotated_on }) as Annotation)

test('a note is at the point whose days include its day', () => {
  const weeks = ['2026-03-02', '2026-03-09', '2026-03-16']
  const notes = notesByPoint(
    weeks,
    annotations('2026-03-23', '2026-03-22', '2026-03-16', '2026-03-15', '2026-03-01'),
  )
  expect([...notes]).toEqual([
    [1, ['2026-03-15']],
    [2, ['2026-03-16', '2026-03-22']],
  ])
})

test('a single point has one day, and no points have no notes', () => {
  expect([...notesByPoint(['2026-03-02'], annotations('2026-03-03', '2026-03-02'))]).toEqual([
    [0, ['2026-03-02']],
  ])
  expect(notesByPoint([], annotations('2026-03-03')).size).toBe(0)
})
