import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { throttled } from '../../src/store/warnings.ts'
import { openTestStore } from './open.ts'

test('refuses and undoes work that returns a promise', async () => {
  const { store, put, keys } = openTestStore()
  const asynchronous = store.commit(async () => {
    put('before the await')
    store.afterCommit(() => put('effect'))
    await null
    throw new Error('no listener')
  })
  const good = store.commit(() => put('good'))
  await expect(asynchronous).rejects.toThrow(/must be synchronous/)
  await good
  expect(keys()).toEqual(['good'])
})

test('refuses an effect outside of a commit', async () => {
  const { store } = openTestStore()
  expect(() => store.afterCommit(() => {})).toThrow(/outside/)
  await store.commit(() => {})
  expect(() => store.afterCommit(() => {})).toThrow(/outside/)
})

test('warns about a failed effect and runs the others', async () => {
  const { store, warnings, put, keys } = openTestStore()
  const effects: string[] = []
  const works = Array.from({ length: 100 }, (_, n) =>
    store.commit(() => {
      put(`k${n}`)
      store.afterCommit(() => {
        if (n === 1) throw new Error('listener failed')
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
      fields: { error: expect.objectContaining({ message: 'listener failed' }) },
    },
  ])
})

test('writes the batched items of a batch once, without those of undone work', async () => {
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

test('a failed batched write undoes the batch', async () => {
  const { store, put, keys } = openTestStore()
  const gather = store.batchWrites<string>(() => {
    throw new Error('disk full')
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

test('a caller learns that nothing was stored, without the message of SQLite', async () => {
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

test('drops warnings that are too frequent', () => {
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

test('a second close waits for the first', async () => {
  const { store } = openTestStore()
  await Promise.all([store.close(), store.close()])
  await store.close()
  const reopened = new Database(store.file, { readonly: true })
  expect(reopened.pragma('integrity_check', { simple: true })).toBe('ok')
  reopened.close()
})

test('runs commits from inside of work, and close does not wait forever', async () => {
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
