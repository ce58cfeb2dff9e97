import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openAgenda } from '../../../src/demo/world/event_queue.ts'
import { runs } from '../../random.ts'

/** What is put at those instants, and when it is looked for what is due up to one. */
const moves = fc.array(
  fc.oneof(fc.record({ put: fc.nat({ max: 30 }) }), fc.record({ until: fc.nat({ max: 30 }) })),
  { maxLength: 60 },
)

test('what is due comes soonest first, and of two at the same instant the one put in first', () => {
  fc.assert(
    fc.property(moves, (list) => {
      const agenda = openAgenda<number>()
      let waiting: { at: number; what: number }[] = []
      for (const [what, move] of list.entries()) {
        if ('put' in move) {
          agenda.put(move.put, what)
          waiting.push({ at: move.put, what })
          continue
        }
        const [soonest] = [...waiting].sort((a, b) => a.at - b.at || a.what - b.what)
        const due = soonest !== undefined && soonest.at <= move.until ? soonest : undefined
        expect(agenda.takeUntil(move.until)).toEqual(due && expect.objectContaining(due))
        waiting = waiting.filter((one) => one !== due)
      }
    }),
    runs(300, 20_000),
  )
})
