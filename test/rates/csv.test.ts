import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRates } from '../../src/rates/csv.ts'
import { cellsOf, rowsOf } from '../../src/rates/parse.ts'
import { openTestApp, rowsOf as rowsIn } from '../helpers.ts'
import { runs } from '../random.ts'

const nothing = { today: '2026-06-30', known: { last: () => null, next: () => null } }
const read = (text: string, base = 'USD') => readRates(text, base, nothing)

test('reads columns by name in any order, with any line endings', () => {
  const { rates, faults } = read(
    '\uFEFFRate,note, Currency ,DATE\r\n0.92,"a, b",eur,2026-03-03\r\n\r\n"0.93",,EUR,2026-03-04',
  )
  expect(faults).toEqual([])
  expect(rates.get('EUR')).toMatchObject([
    { on: '2026-03-03', per_usd_nano: 920_000_000 },
    { on: '2026-03-04', per_usd_nano: 930_000_000 },
  ])
})

test('lists every fault with its line', () => {
  const { faults } = read(
    [
      'date,currency,rate',
      '2026-03-03,EUR,0.92',
      '2026-02-30,EUR,0.92',
      '03.03.2026,EUR,0.92',
      '2026-07-01,EUR,0.92',
      '2026-03-03,EURO,0.92',
      '2026-03-04,EUR,"0,92"',
      '2026-03-04,EUR,0',
      '2026-03-04,EUR',
      '2026-03-04,"EUR,0.92',
      '2026-03-03,EUR,0.93',
      '2026-03-05,EUR,92',
      '2026-03-05,USD,1.1',
      '2026-03-05,VND,99999999',
    ].join('\n'),
  )
  expect(faults).toEqual([
    'line 3: "2026-02-30" is not a date; use the format 2026-01-31',
    'line 4: "03.03.2026" is not a date; use the format 2026-01-31',
    'line 5: 2026-07-01 is in the future',
    'line 6: "EURO" is not a currency',
    'line 7: "0,92" is not a rate; use a number above zero, such as 0.8612',
    'line 8: "0" is not a rate; use a number above zero, such as 0.8612',
    'line 9: it does not have as many cells as the header',
    'line 10: it does not have as many cells as the header',
    'line 11: EUR on 2026-03-03 is already in line 2',
    'line 12: one USD costs 92 EUR on 2026-03-05; expected about 0.62 to 1.05',
    'line 13: one USD cannot cost 1.1 USD',
    'line 14: "99999999" is not a rate; use a number above zero, such as 0.8612',
  ])
})

test.each([
  ['', 'the file is empty'],
  [' \n\n', 'the file is empty'],
  ['2026-01-01,EUR,0.86', 'line 1 must be: date,currency,rate'],
  ['date,currency\n2026-01-01,EUR', 'line 1 must be: date,currency,rate; rate is missing'],
  [
    'date;currency;rate\n2026-01-01;EUR;0,86',
    'line 1 must be: date,currency,rate; this file has semicolons: separate cells with commas, and use a decimal point (0.86)',
  ],
  ['date,currency,rate\n\n', 'the file has no rates'],
  [
    `date,currency,rate${'\n2026-01-01,EUR,1'.repeat(20_001)}`,
    'the file has more than 20000 rates; split it into one file for each year',
  ],
])('a file that is none is told so once (%#)', (text, fault) => {
  expect(read(text)).toEqual({ rates: new Map(), faults: [fault] })
})

test('reports a base that is not a currency once', () => {
  const fault = 'the base "euro" is not a currency'
  expect(read('date,currency,rate\n2026-03-03,EUR,0.92', 'euro')).toEqual({
    rates: new Map(),
    faults: [fault],
  })
})

test('requires the dollar of the same day for rates against the euro', () => {
  const file = 'date,currency,rate\n2026-03-03,USD,1.25\n2026-03-03,JPY,187.5\n2026-03-04,JPY,188'
  const { rates, faults } = read(file, 'EUR')
  expect(faults).toEqual([
    'line 4: there is no rate of USD on 2026-03-04, which is needed to convert from EUR',
  ])
  expect(rates.get('JPY')).toMatchObject([{ on: '2026-03-03', per_usd_nano: 150_000_000_000 }])
  expect(rates.get('EUR')).toMatchObject([{ on: '2026-03-03', per_usd_nano: 800_000_000 }])
  const known = () => ({ rated_on: '2026-03-04', per_usd_nano: 800_000_000, source: 'ecb' })
  const whole = readRates(file, 'EUR', {
    today: '2026-06-30',
    known: { last: (one, on) => (one === 'EUR' && on === '2026-03-04' ? known() : null), next: () => null },
  })
  expect(whole.faults).toEqual([])
  expect(whole.rates.get('JPY')?.map(({ per_usd_nano }) => per_usd_nano)).toEqual([
    150_000_000_000, 150_400_000_000,
  ])
})

test('returns rates or faults for any file', () => {
  const cell = fc.oneof(
    fc.constantFrom(
      '2026-03-03',
      '2026-03-04',
      'EUR',
      'JPY',
      'USD',
      '0.92',
      '1e3',
      '',
      '"',
      '"a,b"',
      '\r',
      '\u0000',
    ),
    fc.string({ maxLength: 8 }),
  )
  const line = fc.array(cell, { maxLength: 5 }).map((cells) => cells.join(','))
  const file = fc.array(line, { maxLength: 8 }).map((lines) => ['date,currency,rate', ...lines].join('\n'))
  fc.assert(
    fc.property(file, fc.constantFrom('USD', 'EUR'), (text, base) => {
      const { rates, faults } = read(text, base)
      for (const fault of faults) expect(fault).toMatch(/^(line \d+: .|the file has no rates)/)
      for (const { per_usd_nano } of [...rates.values()].flat())
        expect(Number.isSafeInteger(per_usd_nano)).toBe(true)
    }),
    runs(300, 20_000),
  )
})

test('parses cells as they were written', () => {
  const plain = fc.stringMatching(/^[^\r\n]{0,12}$/).map((text) => text.trim())
  const written = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 6 }), (cells) => {
      expect(cellsOf(cells.map(written).join(','))).toEqual(cells)
    }),
    runs(300, 20_000),
  )
  expect(rowsOf('a\n1').rows).toEqual([{ line: 2, cells: { a: '1' } }])
})

test('imports nothing from a file with a fault, and never overwrites rates', async () => {
  const app = await openTestApp()
  const { store, rates } = app.windfall
  const bring = async (csv: string) => {
    const read = rates.readCsv(csv, 'USD')
    return store.commit(() => rates.importRates(read))
  }
  const good = 'date,currency,rate\n2026-03-03,EUR,0.92\n2026-03-03,JPY,150'
  await expect(bring(`${good}\n2026-03-04,EUR,none`)).rejects.toThrow(
    'nothing was imported:\n  line 4: "none" is not a rate',
  )
  expect(rowsIn(store, 'rates')).toEqual([])
  expect(await bring(good)).toEqual({ added: 2, known: 0, settled: 0, days: 1, differing: [] })
  const before = rowsIn(store, 'rates')
  expect(await bring(good.replace('0.92', '0.95'))).toEqual({
    added: 0,
    known: 2,
    settled: 0,
    days: 1,
    differing: [{ currency: 'EUR', on: '2026-03-03', written: '0.95', known: '0.92', source: 'import' }],
  })
  expect(rowsIn(store, 'rates')).toEqual(before)
  const many = Array.from({ length: 120 }, (_, index) => `\n2026-03-03,EUR,x${index}`).join('')
  await expect(bring(`date,currency,rate${many}`)).rejects.toThrow(/line 101: .*\n {2}and 20 more$/)
})

test('refuses an impossible rate by its magnitude, its peg or its neighbors', async () => {
  const app = await openTestApp()
  const { store, rates } = app.windfall
  const bring = async (...lines: string[]) => {
    const read = rates.readCsv(['date,currency,rate', ...lines].join('\n'), 'USD')
    return store.commit(() => rates.importRates(read))
  }
  await expect(bring('2026-03-03,JPY,0.0065')).rejects.toThrow(
    'one USD costs 0.0065 JPY on 2026-03-03; expected about 75 to 165; check whether the rate is inverted',
  )
  await expect(bring('2026-03-03,AED,2.1')).rejects.toThrow('one USD is pegged at 3.6725 AED')
  await expect(bring('2026-03-03,EUR,0.9', '2026-03-03,BGN,0.55')).rejects.toThrow(
    'one EUR is pegged at 1.95583 BGN',
  )
  await bring('2026-03-03,TRY,40', '2026-03-03,AED,3.6725', '2026-03-03,EUR,0.9', '2026-03-03,BGN,1.76')
  for (const day of ['2026-03-02', '2026-03-04']) {
    await expect(bring(`${day},TRY,3.9`)).rejects.toThrow(
      /one of them must be wrong; to remove the imported one, run windfall rates remove TRY 2026-03-03/,
    )
    expect(await bring(`${day},TRY,41`)).toMatchObject({ added: 1 })
  }
})

test('removes an imported rate so another can be imported, but no rate of another source', async () => {
  const app = await openTestApp()
  const { store, rates } = app.windfall
  const bring = async (line: string) => {
    const read = rates.readCsv(`date,currency,rate\n${line}`, 'USD')
    return store.commit(() => rates.importRates(read))
  }
  const remove = (currency: string, on: string) => store.commit(() => rates.remove(currency, on))
  const changes: unknown[] = []
  rates.onChange((change) => void changes.push(change))
  await bring('2026-03-02,JPY,150')
  await bring('2026-03-04,JPY,15')
  await expect(remove('JPY', '2026-03-03')).rejects.toThrow('there is no rate of JPY on 2026-03-03')
  expect(await remove('JPY', '2026-03-04')).toMatchObject({ per_usd: '15' })
  expect(changes.at(-1)).toEqual({ currency: 'JPY', from_on: '2026-03-03', until_on: null, is_removal: true })
  expect(await bring('2026-03-04,JPY,151')).toMatchObject({ added: 1, known: 0 })
  store.prepare("update rates set source = 'ecb' where rated_on = '2026-03-02'").run()
  await expect(remove('JPY', '2026-03-02')).rejects.toThrow('is from ecb; only imported rates can be removed')
  expect(rates.show('JPY', 99_999).map(({ per_usd }) => per_usd)).toEqual(['151', '150'])
})

test('the API returns the newest rate of each currency for a read token', async () => {
  const app = await openTestApp()
  const { store, rates } = app.windfall
  const read = rates.readCsv('date,currency,rate\n2026-03-03,EUR,0.92', 'USD')
  await store.commit(() => rates.importRates(read))
  expect((await app.request('/api/v1/rates')).status).toBe(401)
  const answer = await app.request('/api/v1/rates', {
    headers: { authorization: `Bearer ${await app.token()}` },
  })
  const { base, currencies } = (await answer.json()) as { base: string; currencies: { currency: string }[] }
  expect(base).toBe('USD')
  expect(currencies).toHaveLength(43)
  expect(currencies.find(({ currency }) => currency === 'EUR')).toMatchObject({
    per_usd: '0.92',
    newest_on: '2026-03-03',
  })
})
