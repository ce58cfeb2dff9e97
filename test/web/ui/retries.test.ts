import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '../../../src/web/ui/http.ts'
import { client } from '../../../src/web/ui/queries.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Asks a question that is refused so many times before it is answered; when it was asked, and how it ended. */
async function attemptsOf(status: number, refusals: number, retryAfter: number | null) {
  const problem = new Problem(status, 'refused', 'Later.')
  problem.retryAfter = retryAfter
  const began = Date.now()
  const at: number[] = []
  const answer = client
    .fetchQuery({
      queryKey: [status, refusals],
      queryFn: async () => {
        at.push(Date.now() - began)
        if (at.length <= refusals) throw problem
        return 'answered'
      },
    })
    .catch(() => 'refused')
  await vi.runAllTimersAsync()
  return { at, outcome: await answer }
}

test('a question that found no place among those under way is asked again when the server says', async () => {
  expect(await attemptsOf(429, 3, 1)).toEqual({ at: [0, 1_000, 2_000, 3_000], outcome: 'answered' })
  const { at, outcome } = await attemptsOf(429, 100, 1)
  expect({ tries: at.length, outcome }).toEqual({ tries: 11, outcome: 'refused' })
})

test('a server that fails is asked twice more, and one that refuses is not', async () => {
  expect(await attemptsOf(500, 100, null)).toEqual({ at: [0, 1_000, 3_000], outcome: 'refused' })
  expect(await attemptsOf(404, 100, null)).toEqual({ at: [0], outcome: 'refused' })
})
