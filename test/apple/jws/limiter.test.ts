import { expect, test } from 'vitest'
import { openGate } from '../../../src/apple/jws/limiter.ts'
import { Refusal } from '../../../src/errors.ts'

/** Until everything that could go on has gone on. */
const turn = () => new Promise((go) => setImmediate(go))

/** Work that ends when the test says so. */
function openWork() {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((end) => ends.push(end))
  return { work, started: () => ends.length, end: (index: number) => ends[index]?.() }
}

test('as many as allowed run at once, the others wait and go in the order in which they came', async () => {
  const gate = openGate({ at_once: 2, waiting: 10 })
  const { work, started, end } = openWork()
  const done: string[] = []
  const all = ['a', 'b', 'c', 'd'].map(async (name) => {
    await gate.pass(work)
    done.push(name)
  })
  await turn()
  expect(started()).toBe(2)
  end(1)
  await all[1]
  await turn()
  expect(started()).toBe(3)
  const late = gate.pass(work)
  await turn()
  expect(started()).toBe(3)
  for (const index of [2, 0]) {
    end(index)
    await all[index]
  }
  await turn()
  expect(started()).toBe(5)
  end(3)
  await Promise.all(all)
  await turn()
  end(4)
  await late
  expect(done).toEqual(['b', 'c', 'a', 'd'])
})

test('when the line is full the next is refused with 503 and told when to come again', async () => {
  const gate = openGate({ at_once: 1, waiting: 1 })
  const { work, end } = openWork()
  const first = gate.pass(work)
  const second = gate.pass(async () => 'second')
  await turn()
  const refused = await gate.pass(async () => 'third').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ status: 503, code: 'busy', headers: { 'retry-after': '1' } })
  end(0)
  await first
  expect(await second).toBe('second')
})

test('work that fails gives its place back', async () => {
  const gate = openGate({ at_once: 1, waiting: 0 })
  await expect(gate.pass(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await gate.pass(async () => 'next')).toBe('next')
})
