import { expect, test } from 'vitest'
import type { Choice } from '../../../../src/web/ui/palette/choice.ts'
import { groupsFor, scoreOf } from '../../../../src/web/ui/palette/matching.ts'

const choice = (title: string, fields: Partial<Choice> = {}): Choice =>
  ({ id: title, group: 'Pages', title, icon: 'dot', href: '/', ...fields }) as Choice

const titles = (text: string, choices: Choice[], recent: string[] = []) =>
  groupsFor(text, choices, recent).map((group) => [group.title, ...group.choices.map(({ title }) => title)])

test('every typed word must be in a choice', () => {
  const retention = { title: 'Trials & retention', words: 'cohorts funnel' }
  expect(scoreOf('trials', retention)).not.toBeNull()
  expect(scoreOf('ret tri', retention)).not.toBeNull()
  expect(scoreOf('retention funnel', retention)).not.toBeNull()
  expect(scoreOf('retention revenue', retention)).toBeNull()
  expect(scoreOf(' & ', retention)).toBeNull()
})

test('upper case and accents do not matter', () => {
  expect(scoreOf('MULLER', { title: 'Ann Müller' })).toBe(scoreOf('müller', { title: 'Ann Müller' }))
})

test('whole titles precede beginnings, parts and other words', () => {
  const scores = ['MRR', 'MRR movements', 'Mrrs', 'Net new MRR', 'xmrrx', 'Recurring'].map((title) =>
    scoreOf('mrr', { title, words: 'mrr' }),
  )
  expect(scores).toEqual([...scores].sort((a, b) => (b ?? 0) - (a ?? 0)))
  expect(new Set(scores).size).toBe(scores.length)
})

test('the group with the best match is first, and groups have at most seven choices', () => {
  const actions = Array.from({ length: 9 }, (_, index) =>
    choice(`Currency ${index}`, { group: 'View options' }),
  )
  const pages = [choice('Events', { words: 'currency' })]
  expect(titles('currency', [...pages, ...actions])).toEqual([
    ['View options', ...actions.slice(0, 7).map(({ title }) => title)],
    ['Pages', 'Events'],
  ])
})

test('of equal matches, the more recent is first', () => {
  const choices = [choice('Last 7 days'), choice('Last 28 days'), choice('Last 90 days')]
  expect(titles('last', choices, ['Last 90 days', 'gone', 'Last 28 days'])).toEqual([
    ['Pages', 'Last 90 days', 'Last 28 days', 'Last 7 days'],
  ])
})

test('before anything is typed, recent choices precede what is offered, and none is there twice', () => {
  const choices = [
    choice('Today', { isOffered: true }),
    choice('Revenue', { isOffered: true }),
    choice('MRR', { group: 'Metrics' }),
    choice('Sign out', { group: 'Actions', isOffered: true }),
  ]
  expect(titles('  ', choices, ['MRR', 'gone', 'Revenue'])).toEqual([
    ['Recent', 'MRR', 'Revenue'],
    ['Pages', 'Today'],
    ['Actions', 'Sign out'],
  ])
})
