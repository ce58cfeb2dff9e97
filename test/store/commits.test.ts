import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { throttled } from '../../src/store/warnings.ts'
import { openTestStore } from './open.ts'

test('work that gives a promise is undone and refused, for what it does later would be outside', async () => {
  const { store, put, keys } = openTestStore()
  const asynchronous = store.commit(async () => {
    put('before the await')
    store.afterCommit(() => put('effect'))
    await null
    throw new Error('nobody listens')
  })
  const good = store.commit(() => put('good'))
  await expect(asynchronous).rejects.toThrow(/must be synchronous/)
  await good
  expect(keys()).toEqual(['good'])
})

test('an effect outside of a commit is refused, since nothing would run it', async () => {
  const { store } = openTestStore()
  expect(() => store.afterCommit(() => {})).toThrow(/outside/)
  await store.commit(() => {})
  expect(() => store.afterCommit(() => {})).toThrow(/outside/)
})

test('an effect that throws is told, and neither other effects nor later batches miss anything', async () => {
  const { store, warnings, put, keys } = openTestStore()
  const effects: string[] = []
  const works = Array.from({ length: 100 }, (_, n) =>
    store.commit(() => {
      put(`k${n}`)
      store.afterCommit(() => {
        if (n === 1) throw new Error('no ears')
        effects.push(`k${n}`)
      })
    }),
  )
  await Promise.all(works)
  expect(keys()).toHaveLength(100)
  expect(effects).toHaveLength(99)
  expect(warnings).toEqual([
    {
      message: 'an effect after a commit failed; the commit itself is stored',
      fields: { error: expect.objectContaining({ message: 'no ears' }) },
    },
  ])
})

test('what works of a batch gathered is written once before its commit, but nothing of what was undone', async () => {
  const { store, put, keys } = openTestStore()
  const written: string[][] = []
  const gather = store.batchWrites<string>((items) => {
    written.push([...items])
    put(items.join(' '))
    store.afterCommit(() => written.push(['committed']))
  })
  const works = ['a', 'b', 'c'].map((item) =>
    store.commit(() => {
      gather(item)
      if (item === 'b') throw new Error('undone')
    }),
  )
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect(written).toEqual([['a', 'c'], ['committed']])
  expect(keys()).toEqual(['a c'])
  expect(() => gather('d')).toThrow(/outside/)
})

test('where what was gathered cannot be written, nothing of its batch is kept', async () => {
  const { store, put, keys } = openTestStore()
  const gather = store.batchWrites<string>(() => {
    throw new Error('no room for sums')
  })
  const works = ['a', 'b'].map((key) =>
    store.commit(() => {
      put(key)
      gather(key)
    }),
  )
  for (const work of works) await expect(work).rejects.toMatchObject({ status: 503 })
  expect(keys()).toEqual([])
  await store.commit(() => put('later'))
  expect(keys()).toEqual(['later'])
})

test('a caller is told that nothing was kept, and not in what words SQLite said so', async () => {
  const { store, warnings, put } = openTestStore()
  store.limitPages(Number(store.pragma('page_count')))
  const refused = await store.commit(() => put('large', 'x'.repeat(200_000))).catch((error) => error)
  expect(refused).toMatchObject({
    status: 503,
    code: 'store_unavailable',
    message: 'the database cannot be written now; nothing was stored',
    headers: { 'retry-after': '30' },
    cause: { code: 'SQLITE_FULL' },
  })
  expect(warnings).toEqual([
    {
      message: 'the database cannot be written',
      fields: { reason: 'database or disk is full', code: 'SQLITE_FULL' },
    },
  ])
})

test('a warning that would come too often is left out', () => {
  const order: string[] = []
  let now = 0
  const warn = throttled(
    1_000,
    (message) => order.push(message),
    () => now,
  )
  for (const at of [0, 1, 999, 1_000, 1_500, 2_000]) {
    now = at
    warn(`at ${at}`)
  }
  expect(order).toEqual(['at 0', 'at 1000', 'at 2000'])
})

test('closing twice is closing once', async () => {
  const { store } = openTestStore()
  await Promise.all([store.close(), store.close()])
  await store.close()
  const reopened = new Database(store.file, { readonly: true })
  expect(reopened.pragma('integrity_check', { simple: true })).toBe('ok')
  reopened.close()
})

test('what is asked for inside of work is done, too, and does not hold up whoever closes', async () => {
  const { store, put, keys } = openTestStore()
  let inner: Promise<unknown> | undefined
  await store.commit(() => {
    put('outer')
    inner = store.commit(() => put('inner'))
  })
  await inner
  expect(keys()).toEqual(['inner', 'outer'])
  await store.close()
})
