import { expect, test } from 'vitest'
import { openBulk } from '../../src/store/bulk.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { openTestStore } from './open.ts'

/**
 * A store that records the names of the work in each batch. Each piece of work takes one millisecond of a manual clock.
 * The clock starts long after the last request.
 */
function openTimed() {
  const elapsed = handClock(1_000)
  const opened = openTestStore(elapsed)
  const batches: string[][] = []
  const seen: { left_ms: number; isBusy: boolean }[] = []
  const gather = opened.store.batchWrites<string>((names, batch) => {
    batches.push([...names])
    seen.push({ left_ms: batch.left_ms(), isBusy: batch.isBusy })
  })
  const piece = (name: string) => (): string => {
    elapsed.turn(1)
    gather(name)
    opened.put(name)
    return name
  }
  const many = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => opened.store.commitBulk(piece(`bulk ${n}`))))
  return { ...opened, elapsed, batches, seen, piece, many, sizes: () => batches.map(({ length }) => length) }
}

test('runs only bulk work in transactions of 25 ms, in order', async () => {
  const { many, sizes, batches } = openTimed()
  const names = await many(120)
  expect(names).toEqual(Array.from({ length: 120 }, (_, n) => `bulk ${n}`))
  expect(batches.flat()).toEqual(names)
  expect(sizes()).toEqual([25, 25, 25, 25, 20])
})

test('an ordinary commit waits for at most one batch, runs before bulk work, and shortens later batches', async () => {
  const { store, many, piece, batches, sizes, elapsed } = openTimed()
  const bulk = many(55)
  // The first batch of bulk work runs in this turn. The caller arrives right after it.
  await new Promise(setImmediate)
  await Promise.all(['a', 'b'].map((name) => store.commit(piece(name))))
  expect(sizes()).toEqual([25, 5])
  expect(batches[1]).toEqual(['a', 'b', 'bulk 25', 'bulk 26', 'bulk 27'])
  await new Promise(setImmediate)
  expect(sizes()).toEqual([25, 5, 5])
  elapsed.turn(100)
  await bulk
  expect(sizes()).toEqual([25, 5, 5, 22])
})

test('runs upkeep before waiting bulk work, and some bulk work in each batch', async () => {
  const { store, piece, many, batches, elapsed } = openTimed()
  const bulk = many(2)
  expect(store.isBulkWaiting()).toBe(true)
  const long = (name: string) => () => {
    elapsed.turn(50)
    piece(name)()
  }
  await store.commitUpkeep(long('upkeep 0'))
  await store.commitUpkeep(long('upkeep 1'))
  await bulk
  expect(batches).toEqual([
    ['upkeep 0', 'bulk 0'],
    ['upkeep 1', 'bulk 1'],
  ])
  expect(store.isBulkWaiting()).toBe(false)
})

test('runs one piece of bulk work in each batch that ordinary work fills', async () => {
  const { store, piece, many, batches } = openTimed()
  const ordinary = Array.from({ length: 10 }, (_, n) => store.commit(piece(`own ${n}`)))
  await Promise.all([many(2), ...ordinary])
  const own = (from: number) => Array.from({ length: 5 }, (_, n) => `own ${from + n}`)
  expect(batches).toEqual([
    [...own(0), 'bulk 0'],
    [...own(5), 'bulk 1'],
  ])
})

test('limits batches of bulk work to 5 ms during a request and for 100 ms after it', async () => {
  const { store, many, sizes, elapsed } = openTimed()
  expect(store.isQuiet()).toBe(true)
  const end = store.beginRequest()
  elapsed.turn(1_000)
  expect(store.isQuiet()).toBe(false)
  await many(10)
  expect(sizes()).toEqual([5, 5])
  end()
  end()
  elapsed.turn(99)
  expect(store.isQuiet()).toBe(false)
  elapsed.turn(1)
  expect(store.isQuiet()).toBe(true)
})

test('the store is not quiet while ordinary work is queued, nor for 100 ms after it', async () => {
  const { store, piece, many, elapsed } = openTimed()
  await many(3)
  expect(store.isQuiet()).toBe(true)
  const work = store.commit(piece('own'))
  elapsed.turn(1_000)
  expect(store.isQuiet()).toBe(false)
  await work
  expect(store.isQuiet()).toBe(true)
  await store.commit(piece('another'))
  expect(store.isQuiet()).toBe(false)
})

test('batched writes get the time left and whether more work waits', async () => {
  const { store, many, piece, seen, elapsed } = openTimed()
  await many(35)
  // The first batch used 25 of the 40 ms and the second 10.
  expect(seen).toEqual([
    { left_ms: 15, isBusy: true },
    { left_ms: 30, isBusy: false },
  ])
  await store.commit(piece('own'))
  expect(seen.at(-1)).toEqual({ left_ms: 4, isBusy: false })
  elapsed.turn(100)
  await store.commitBulk(() => {
    elapsed.turn(70)
    piece('long')()
  })
  expect(seen.at(-1)).toEqual({ left_ms: 0, isBusy: false })
})

test('an error undoes only its piece of bulk work', async () => {
  const { store, piece, keys, sizes } = openTimed()
  const works = ['a', 'b', 'c'].map((name) =>
    store.commitBulk(() => {
      piece(name)()
      if (name === 'b') throw new Error('refused')
      return name
    }),
  )
  expect(await Promise.allSettled(works)).toMatchObject([
    { value: 'a' },
    { reason: { message: 'refused' } },
    { value: 'c' },
  ])
  expect(keys()).toEqual(['a', 'c'])
  expect(sizes()).toEqual([2])
})

test('close waits for bulk work', async () => {
  const { store, piece } = openTimed()
  const works = ['a', 'b'].map((name) => store.commitBulk(piece(name)))
  await store.close()
  expect(await Promise.all(works)).toEqual(['a', 'b'])
})

test('a run stops after a failed piece and throws its error', async () => {
  const { store, piece, keys, sizes } = openTimed()
  const bulk = openBulk(store)
  for (const name of ['a', 'b', 'c', 'done']) {
    await bulk.add(() => {
      if (name === 'b') throw new Error('refused')
      piece(name)()
    })
  }
  await expect(bulk.finish()).rejects.toThrow('refused')
  await expect(bulk.add(piece('later'))).rejects.toThrow('refused')
  expect(keys()).toEqual(['a'])
  expect(sizes()).toEqual([1])
})

test('a run stops after a batch that cannot be written', async () => {
  const { store, elapsed, piece, put, keys } = openTimed()
  const bulk = openBulk(store)
  await bulk.add(piece('a'))
  await bulk.add(() => {
    put('large', 'x'.repeat(200_000))
    elapsed.turn(50)
  })
  await bulk.add(piece('done'))
  store.limitPages(Number(store.pragma('page_count')))
  await expect(bulk.finish()).rejects.toMatchObject({ code: 'store_unavailable' })
  store.limitPages(null)
  await store.commit(() => put('later'))
  expect(keys()).toEqual(['later'])
})

test('a run limits the number of waiting pieces', async () => {
  const { store, piece, sizes } = openTimed()
  const bulk = openBulk(store, 4)
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await bulk.add(piece(name))
  await bulk.finish()
  expect(sizes()).toEqual([4, 2])
})

test('the store is not quiet while a request is running', async () => {
  const { windfall, request, close } = await openTestApp()
  const { store } = windfall
  while (!store.isQuiet()) await new Promise(setImmediate)
  const body = new TransformStream<Uint8Array, Uint8Array>()
  const headers = { 'content-type': 'application/json' }
  const sent = { method: 'POST', headers, body: body.readable, duplex: 'half' } as const
  const answer = request('/apple/notifications', sent)
  expect(store.isQuiet()).toBe(false)
  await body.writable.close()
  expect((await answer).status).toBe(400)
  while (!store.isQuiet()) await new Promise(setImmediate)
  await close()
})
