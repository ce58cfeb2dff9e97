import { expect, test } from 'vitest'
import { openKnownNetworks } from '../../../src/http/clients/known_networks.ts'
import { handClock } from '../../helpers.ts'

const DAY = 86_400_000

function opened() {
  const clock = handClock(DAY / 2)
  return { clock, known: openKnownNetworks(clock) }
}

test('a network is known from a day after its first call on, for thirty days after its last', () => {
  const { clock, known } = opened()
  known.note('a')
  clock.turn(DAY - 1)
  known.note('a')
  expect(known.isKnown('a')).toBe(false)
  clock.turn(1)
  expect([known.isKnown('a'), known.isKnown('b')]).toEqual([true, false])
  known.note('a')
  clock.turn(29 * DAY)
  expect(known.isKnown('a')).toBe(true)
  clock.turn(DAY)
  expect(known.isKnown('a')).toBe(false)
})

test('any number of new networks forgets none that is known', () => {
  const { clock, known } = opened()
  known.note('a')
  clock.turn(DAY)
  known.note('a')
  for (let n = 0; n < 50_000; n += 1) known.note(`stranger ${n}`)
  expect(known.isKnown('a')).toBe(true)
  clock.turn(DAY)
  expect([known.isKnown('stranger 0'), known.isKnown('stranger 49999')]).toEqual([false, true])
})

test('what is written and restored has no network without a call for thirty days', () => {
  const { clock, known } = opened()
  known.note('gone')
  known.note('once')
  clock.turn(DAY)
  known.note('gone')
  clock.turn(15 * DAY)
  known.note('new')
  const written = known.read(10)
  clock.turn(14 * DAY)
  expect(known.read(10)).toEqual({ known: [['gone', 29 * DAY]], others: [['new', 14 * DAY]] })
  clock.turn(DAY)
  expect(known.read(10)).toEqual({ known: [], others: [['new', 15 * DAY]] })

  const later = openKnownNetworks(clock)
  later.restore(written, 15 * DAY)
  expect(later.read(10)).toEqual({ known: [], others: [['new', 15 * DAY]] })
})

test('of too many networks, those that called last are written', () => {
  const { clock, known } = opened()
  for (const network of ['a', 'b', 'c']) {
    known.note(network)
    clock.turn(1)
  }
  expect(known.read(2).others.map(([network]) => network)).toEqual(['b', 'c'])
})
