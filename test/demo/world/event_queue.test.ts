import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openEventQueue } from '../../../src/demo/world/event_queue.ts'
import { runs } from '../../random.ts'

/** Random moves: adds an event at an instant, or takes the events that are due until one. */
const moves = fc.array(
  fc.oneof(fc.record({ put: fc.nat({ max: 30 }) }), fc.record({ until: fc.nat({ max: 30 }) })),
  { maxLength: 60 },
)

test('returns due events by time, then by insertion', () => {
  fc.assert(
    fc.property(moves, (list) => {
      const queue = openEventQueue<number>()
      let waiting: { at: number; item: number }[] = []
      for (const [item, move] of list.entries()) {
        if ('put' in move) {
          queue.put(move.put, item)
          waiting.push({ at: move.put, item })
          continue
        }
        const [soonest] = [...waiting].sort((a, b) => a.at - b.at || a.item - b.item)
        const due = soonest !== undefined && soonest.at <= move.until ? soonest : undefined
        expect(queue.takeUntil(move.until)).toEqual(due && expect.objectContaining(due))
        waiting = waiting.filter((one) => one !== due)
      }
    }),
    runs(300, 20_000),
  )
})
