import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '../../../src/web/ui/http.ts'
import { client } from '../../../src/web/ui/queries.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Runs a query that is refused `refusals` times; returns the times of its attempts and its result. */
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

test('retries a request refused by the concurrency limit after Retry-After', async () => {
  expect(await attemptsOf(429, 3, 1)).toEqual({ at: [0, 1_000, 2_000, 3_000], outcome: 'answered' })
  const { at, outcome } = await attemptsOf(429, 100, 1)
  expect({ tries: at.length, outcome }).toEqual({ tries: 11, outcome: 'refused' })
})

test('retries a failing server twice and a refusal never', async () => {
  expect(await attemptsOf(500, 100, null)).toEqual({ at: [0, 1_000, 3_000], outcome: 'refused' })
  expect(await attemptsOf(404, 100, null)).toEqual({ at: [0], outcome: 'refused' })
})
