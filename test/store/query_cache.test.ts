import { expect, test } from 'vitest'
import { openTestStore } from './open.ts'

function openCached() {
  const opened = openTestStore()
  const { store } = opened
  const find = store.prepare<[string], { value: string }>('select value from settings where key = ?')
  let reads = 0
  const valueNow = store.cached(['settings'], (key) => {
    reads += 1
    return find.get(key)?.value ?? null
  })
  return { ...opened, valueNow, reads: () => reads }
}

test('caches a result until its table changes', async () => {
  const { store, put, valueNow, reads } = openCached()
  await store.commit(() => put('colour', 'red'))
  expect([valueNow('colour'), valueNow('colour'), valueNow('shape'), valueNow('shape')]).toEqual([
    'red',
    'red',
    null,
    null,
  ])
  expect(reads()).toBe(2)
  await store.commit(() => store.prepare("update settings set value = 'blue' where key = 'colour'").run())
  expect(valueNow('colour')).toBe('blue')
  await store.commit(() => store.prepare("delete from settings where key = 'colour'").run())
  expect(valueNow('colour')).toBeNull()
})

test('does not cache a result of undone work', async () => {
  const { store, put, valueNow } = openCached()
  const undone = store.commit(() => {
    put('colour', 'red')
    expect(valueNow('colour')).toBe('red')
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  expect(valueNow('colour')).toBeNull()
})

test('caches a result of work that did not change its table', async () => {
  const { store, put, valueNow, reads } = openCached()
  await store.commit(() => put('colour', 'red'))
  await store.commit(() => valueNow('colour'))
  await store.commit(() => valueNow('colour'))
  expect([valueNow('colour'), reads()]).toEqual(['red', 1])
})

test('does not cache results of a failed batch', async () => {
  const { store, put, valueNow } = openCached()
  store.limitPages(10)
  const work = store.commit(() => {
    put('colour', 'red')
    valueNow('colour')
    put('much', 'x'.repeat(1_000_000))
  })
  await expect(work).rejects.toMatchObject({ status: 503 })
  store.limitPages(null)
  await store.commit(() => valueNow('colour'))
  expect(valueNow('colour')).toBeNull()
})

test('bounds the memory of keys from clients', () => {
  const { valueNow, reads } = openCached()
  for (let n = 0; n < 2_500; n += 1) valueNow(`key-${n}`)
  valueNow('key-2499')
  expect(reads()).toBe(2_500)
  valueNow('key-0')
  expect(reads()).toBe(2_501)
  const long = 'x'.repeat(10_000)
  valueNow(long)
  valueNow(long)
  expect(reads()).toBe(2_503)
})
