import { expect, test } from 'vitest'
import { Refusal } from '../src/errors.ts'
import { openLimiter, openQueue, openSerial, type Waiter } from '../src/limiter.ts'

/** Waits until all pending promise callbacks have run. */
const turn = () => new Promise((go) => setImmediate(go))

/** Work that ends when the test calls `end`. */
function openWork() {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((end) => ends.push(end))
  return { work, started: () => ends.length, end: (index: number) => ends[index]?.() }
}

test('runs the allowed number at the same time, and the others in order', async () => {
  const limiter = openLimiter(2, openQueue())
  const { work, started, end } = openWork()
  const done: string[] = []
  const all = ['a', 'b', 'c', 'd'].map(async (name) => {
    await limiter.run(work)
    done.push(name)
  })
  await turn()
  expect(started()).toBe(2)
  end(1)
  await all[1]
  await turn()
  expect(started()).toBe(3)
  const late = limiter.run(work)
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

test('refuses the next waiter when the queue is full', async () => {
  const full = () => new Refusal(503, 'busy', 'full')
  const limiter = openLimiter(1, openQueue(1, full))
  const { work, end } = openWork()
  const first = limiter.run(work)
  const second = limiter.run(async () => 'second')
  await turn()
  await expect(limiter.run(async () => 'third')).rejects.toMatchObject({ status: 503, code: 'busy' })
  end(0)
  await first
  expect(await second).toBe('second')
})

test('failed work frees its slot', async () => {
  const limiter = openLimiter(1, openQueue(0))
  await expect(limiter.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const broken = (): Promise<void> => {
    throw new Error('broken before it began')
  }
  await expect(limiter.run(broken)).rejects.toThrow('broken before it began')
  expect(await limiter.run(async () => 'next')).toBe('next')
})

test('a custom queue decides which waiter is next and which is refused', async () => {
  const waiters: { waiter: Waiter; rank: number }[] = []
  const limiter = openLimiter<number>(1, {
    add(waiter, rank) {
      waiters.push({ waiter, rank })
      waiters.sort((a, b) => a.rank - b.rank)
      if (waiters.length > 2) waiters.pop()?.waiter.refuse(new Error(`${rank} took the place`))
    },
    next: () => waiters.shift()?.waiter,
  })
  const { work, end } = openWork()
  const order: number[] = []
  const first = limiter.run(work, 0)
  const run = (rank: number) => limiter.run(async () => void order.push(rank), rank)
  const later = [run(3), run(2), run(1)]
  await expect(later[0]).rejects.toThrow('1 took the place')
  end(0)
  await Promise.all([first, later[1], later[2]])
  expect(order).toEqual([1, 2])
})

test('runs work one after another in order, despite errors', async () => {
  const serial = openSerial()
  const { work, started, end } = openWork()
  const order: string[] = []
  const first = serial.run(work)
  const second = serial.run(async () => {
    order.push('second')
    throw new Error('broken')
  })
  const third = serial.run(async () => void order.push('third'))
  const idle = serial.idle().then(() => order.push('idle'))
  await turn()
  expect([started(), order]).toEqual([1, []])
  end(0)
  await expect(second).rejects.toThrow('broken')
  await Promise.all([first, third, idle])
  expect(order).toEqual(['second', 'third', 'idle'])
})
