import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { addDays } from '../../src/days.ts'
import { openRates } from '../../src/rates/rates.ts'
import { gapsOf } from '../../src/rates/series.ts'
import { openStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock, rowsOf } from '../helpers.ts'
import { runs } from '../random.ts'

const FIRST = '2026-01-01'
const DAYS = 40
const dayOf = (index: number): string => addDays(FIRST, index)
const csvOf = (rows: readonly (readonly [number, number])[]): string =>
  ['date,currency,rate', ...rows.map(([day, rate]) => `${dayOf(day)},EUR,0.${500 + rate}`)].join('\n')

function opened() {
  const folder = temporaryFolder()
  const store = openStore(`${folder.path}/windfall.db`)
  const rates = openRates({
    store,
    clock: handClock(Date.parse(addDays(FIRST, 1000))),
    settings: { fetch: false },
  })
  onTestFinished(async () => {
    await store.close()
    folder.remove()
  })
  return {
    store,
    rates,
    add: (csv: string) => store.commit(() => rates.importRates(rates.readCsv(csv, 'USD'))),
  }
}

const batch = fc.uniqueArray(fc.tuple(fc.nat(DAYS), fc.nat(400)), { selector: ([day]) => day, minLength: 1 })

test('keeps final rates, whatever is added later in any order', async () => {
  const { store, rates, add } = opened()
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 6 }), async (batches) => {
      await store.commit(() => store.prepare('delete from rates').run())
      const final = new Map<string, string>()
      for (const rows of batches) {
        await add(csvOf(rows))
        for (let day = -2; day <= DAYS + 2; day += 1) {
          const on = dayOf(day)
          const rate = rates.rateOn('EUR', on)
          if (final.has(on)) expect(JSON.stringify(rate)).toBe(final.get(on))
          if (rate?.is_final) final.set(on, JSON.stringify(rate))
        }
      }
    }),
    runs(60, 2_000),
  )
})

test('converts the same for the same rates, in whatever order they were added', async () => {
  const [one, other] = [opened(), opened()]
  const rows = Array.from({ length: 30 }, (_, day) => [day * 9, (day * 37) % 400] as const)
  await one.add(csvOf(rows))
  for (const row of rows.toReversed()) await other.add(csvOf([row]))
  expect(rowsOf(one.store, 'rates')).toEqual(rowsOf(other.store, 'rates'))
  for (let day = 0; day < 280; day += 1) {
    const [a, b] = [one, other].map(({ rates }) => rates.convert(1_234_567, 'EUR', 'USD', dayOf(day)))
    expect(a).toEqual(b)
  }
})

test('carries a rate over a week permanently, and leaves longer gaps to be filled', async () => {
  const { rates, add } = opened()
  await add(
    csvOf([
      [0, 1],
      [8, 2],
      [17, 3],
    ]),
  ) // seven days between the first two, eight between the others
  expect(rates.rateOn('EUR', dayOf(5))).toMatchObject({ rated_on: dayOf(0), is_final: true })
  expect(rates.rateOn('EUR', dayOf(12))).toMatchObject({ rated_on: dayOf(8), is_final: false })
  expect(rates.rateOn('EUR', dayOf(30))).toMatchObject({ rated_on: dayOf(17), is_final: false })
  expect(rates.rateOn('EUR', dayOf(-1))).toBeNull()
  expect(
    await add(
      csvOf([
        [5, 9],
        [8, 9],
        [12, 9],
      ]),
    ),
  ).toEqual({
    added: 1,
    known: 1,
    settled: 1,
    days: 3,
    differing: [expect.objectContaining({ written: '0.509', known: '0.502' })],
  })
  expect(rates.rateOn('EUR', dayOf(12))).toMatchObject({ rated_on: dayOf(12), is_final: true })
  expect(rates.list().find(({ currency }) => currency === 'EUR')).toEqual({
    currency: 'EUR',
    per_usd: '0.503',
    oldest_on: dayOf(0),
    newest_on: dayOf(17),
    source: 'import',
    gaps: [],
  })
})

test('lists a gap with its first and last day', async () => {
  const { rates, add } = opened()
  await add(
    csvOf([
      [0, 1],
      [20, 2],
      [21, 3],
      [40, 4],
    ]),
  )
  expect(rates.list().find(({ currency }) => currency === 'EUR')?.gaps).toEqual([
    { from_on: dayOf(1), until_on: dayOf(19) },
    { from_on: dayOf(22), until_on: dayOf(39) },
  ])
  expect(rates.list().find(({ currency }) => currency === 'JPY')).toMatchObject({ newest_on: null, gaps: [] })
})

test('converts through the dollar with one rounding, and not without a rate', async () => {
  const { rates, add } = opened()
  const on = '2026-03-03'
  await add(`date,currency,rate\n${on},EUR,0.92\n${on},JPY,149.65`)
  // 9.99 EUR = 9.99 ÷ 0.92 × 149.65 JPY = 1624.99… JPY
  expect(rates.convert(9_990, 'EUR', 'JPY', on)).toEqual({ milli: 1_625_004, rated_on: on, is_final: true })
  expect(rates.convert(9_990, 'USD', 'EUR', on)).toMatchObject({ milli: 9_191 })
  expect(rates.convert(-9_990, 'USD', 'EUR', on)).toMatchObject({ milli: -9_191 })
  expect(rates.convert(5, 'GBP', 'GBP', on)).toEqual({ milli: 5, rated_on: on, is_final: true })
  expect(rates.convert(0, 'GBP', 'EUR', on)).toBeNull()
  expect(rates.convert(1, 'EUR', 'JPY', addDays(on, -1))).toBeNull()
})

test('announces a change with the days it applies to', async () => {
  const { rates, add } = opened()
  const heard: object[] = []
  await add(csvOf([[30, 1]]))
  rates.onChange((change) => heard.push(change))
  await add(
    csvOf([
      [2, 1],
      [4, 2],
    ]),
  )
  await add(csvOf([[4, 3]]))
  await add(csvOf([[33, 3]]))
  expect(heard).toEqual([
    { currency: 'EUR', from_on: dayOf(2), until_on: dayOf(29), is_removal: false },
    { currency: 'EUR', from_on: dayOf(33), until_on: null, is_removal: false },
  ])
})

test('begins and ends gaps next to days with a rate', () => {
  const days = (...all: number[]) => all.map(dayOf)
  const whole = { from_on: dayOf(0), until_on: dayOf(20) }
  expect(gapsOf([], whole)).toEqual([whole])
  expect(gapsOf(days(8, 13), whole)).toEqual([{ from_on: dayOf(0), until_on: dayOf(7) }])
  expect(gapsOf(days(7, 12), whole)).toEqual([{ from_on: dayOf(13), until_on: dayOf(20) }])
})
