import { expect, test } from 'vitest'
import { amountOf, kindOf, scaleOf, stepsOf } from '../../../src/web/ui/subscriptions/waterfall_steps.ts'

const movement = (name: string, milli: number | null, count: number | null = null) => ({
  name,
  title: name,
  sentence: '',
  milli,
  count,
})
const ends = { startTitle: 'before', endTitle: 'now' }

test('starts each step where the previous one ends', () => {
  const steps = stepsOf([movement('new', 300), movement('churn_voluntary', -100), movement('fx', 0)], {
    start: 1000,
    end: 1200,
    ...ends,
  })
  expect(steps.map(({ name, from, to }) => [name, from, to])).toEqual([
    ['start', 0, 1000],
    ['new', 1000, 1300],
    ['churn_voluntary', 1300, 1200],
    ['end', 0, 1200],
  ])
})

test('adds a step for the difference, combined with the API’s not itemized part', () => {
  const alone = stepsOf([movement('new', 300)], { start: 1000, end: 1290, ...ends })
  expect(alone.map(({ name, milli }) => [name, milli])).toEqual([
    ['start', 1000],
    ['new', 300],
    ['not_itemised', -10],
    ['end', 1290],
  ])
  const both = stepsOf([movement('not_itemised', 25, 2), movement('new', 300)], {
    start: 1000,
    end: 1315,
    ...ends,
  })
  expect(both.map(({ name, milli }) => [name, milli])).toEqual([
    ['start', 1000],
    ['new', 300],
    ['not_itemised', 15],
    ['end', 1315],
  ])
})

test('an unknown start, end or movement is not zero, and nothing is said of a remainder', () => {
  const found = (start: number | null, end: number | null, ...movements: ReturnType<typeof movement>[]) =>
    stepsOf(movements, { start, end, ...ends }).map((step) => [step.name, amountOf(step, 'USD'), step.to])
  expect(found(null, 1_200_000, movement('new', 300_000), movement('churn_voluntary', -100_000))).toEqual([
    ['start', 'unknown', 1_000_000],
    ['new', '+$300.00', 1_300_000],
    ['churn_voluntary', '-$100.00', 1_200_000],
    ['end', '$1,200.00', 1_200_000],
  ])
  expect(found(1_000_000, null, movement('new', 300_000))).toEqual([
    ['start', '$1,000.00', 1_000_000],
    ['new', '+$300.00', 1_300_000],
    ['end', 'unknown', 1_300_000],
  ])
  expect(found(1_000_000, 1_200_000, movement('new', null))).toEqual([
    ['start', '$1,000.00', 1_000_000],
    ['new', 'unknown', 1_000_000],
    ['not_itemised', '+$200.00', 1_200_000],
    ['end', '$1,200.00', 1_200_000],
  ])
  expect(found(null, null)).toEqual([
    ['start', 'unknown', 0],
    ['end', 'unknown', 0],
  ])
  expect(scaleOf(stepsOf([], { start: null, end: null, ...ends })).share(0)).toBe(0)
})

test('keeps a movement of zero value with a count', () => {
  const steps = stepsOf([movement('new', 0, 2)], { start: 5, end: 5, ...ends })
  expect(steps.map(({ name }) => name)).toEqual(['start', 'new', 'end'])
})

test('adds up for any movements', () => {
  let seed = 7
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed % 2001) - 1000
  }
  for (let run = 0; run < 200; run += 1) {
    const movements = ['new', 'expansion', 'fx', 'not_itemised'].map((name) => movement(name, random()))
    const [start, end] = [random(), random()]
    const steps = stepsOf(movements, { start, end, ...ends })
    const moved = steps.filter(({ isLevel }) => !isLevel)
    expect(moved.reduce((level, { milli }) => level + (milli ?? 0), start)).toBe(end)
    expect((moved.at(-1) ?? { to: start }).to).toBe(end)
  }
})

test('starts the axis at zero, or below the lowest level if movements would be too thin', () => {
  const wide = scaleOf(stepsOf([movement('new', 900)], { start: 100, end: 1000, ...ends }))
  expect([wide.low, wide.high, wide.isCut]).toEqual([0, 1000, false])
  expect(wide.share(500)).toBe(0.5)
  const narrow = scaleOf(stepsOf([movement('new', 100)], { start: 1000, end: 1100, ...ends }))
  expect([narrow.low, narrow.high, narrow.isCut]).toEqual([960, 1100, true])
  expect(narrow.share(0)).toBe(0)
  expect(narrow.share(1100)).toBe(1)
})

test('handles negative levels and empty input', () => {
  const below = scaleOf(stepsOf([movement('fx', -300)], { start: 100, end: -200, ...ends }))
  expect([below.low, below.high]).toEqual([-200, 100])
  const none = scaleOf(stepsOf([], { start: 0, end: 0, ...ends }))
  expect(none.share(0)).toBe(0)
})

test('classifies each step and formats its amount', () => {
  const movements = [movement('new', 300_000), movement('churn_voluntary', -100_000), movement('fx', -7_000)]
  const steps = stepsOf(movements, { start: 1_000_000, end: 1_193_000, ...ends })
  expect(steps.map((step) => [kindOf(step), amountOf(step, 'USD')])).toEqual([
    ['whole', '$1,000.00'],
    ['up', '+$300.00'],
    ['down', '-$100.00'],
    ['neutral', '-$7.00'],
    ['whole', '$1,193.00'],
  ])
})
