/** The clocks of an instance, and of the class that tests and the machine use. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClocks, wholeClocks } from '../src/clock.ts'

test('clocks read whole milliseconds, whatever the clocks below them read', () => {
  for (const read of [systemClocks.clock, systemClocks.monotonic])
    expect(read()).toSatisfy(Number.isSafeInteger)
  fc.assert(
    fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), (now) => {
      const { clock, monotonic } = wholeClocks({ clock: () => now, monotonic: () => now })
      expect([clock(), monotonic()]).toEqual([Math.floor(now), Math.floor(now)])
    }),
  )
})
