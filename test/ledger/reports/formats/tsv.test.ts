import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { salesTable } from '../../../../src/ledger/reports/formats/sales.ts'
import { subscriptionTable } from '../../../../src/ledger/reports/formats/subscription.ts'
import { fingerprintOf } from '../../../../src/ledger/reports/formats/text.ts'
import { runs } from '../../../random.ts'
import {
  type Cells,
  DAY,
  download,
  faultOf,
  level,
  read,
  readSales,
  sale,
  textOf,
  zipped,
} from '../samples.ts'

const name = fc
  .string({ minLength: 1, maxLength: 20 })
  .filter((text) => !/[\t\n\r\0]/.test(text) && text.trim() !== '')
const cents = fc
  .integer({ min: 0, max: 99_999_999 })
  .map((n) => `${Math.floor(n / 100)}.${String(n % 100).padStart(2, '0')}`)
const anySale: fc.Arbitrary<Cells> = fc
  .record({
    Title: name,
    Units: fc.integer({ min: -500, max: 500 }).map(String),
    'Developer Proceeds': cents,
    'Customer Price': cents,
    Subscription: fc.constantFrom('New', 'Renewal', '', ' '),
    Device: fc.constantFrom('iPhone', 'iPad', 'Apple Watch'),
    'Product Type Identifier': fc.constantFrom('IAY', 'IA1', 'IA1-M', '1', '7F', 'QQ9'),
  })
  .map((cells) => sale(cells))
// No column of Apple's begins with this.
const unknownName = fc.stringMatching(/^Zq[a-z]{1,8} [a-z]{1,8}$/)

test('reads the same rows with columns in any order, unknown columns and any line endings', async () => {
  const dressing = fc.record({
    order: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
    extra: fc.uniqueArray(unknownName, { maxLength: 3, selector: (column) => column.toLowerCase() }),
    newline: fc.constantFrom('\n', '\r\n'),
    bom: fc.boolean(),
    final: fc.boolean(),
    zip: fc.boolean(),
    blank: fc.constantFrom('', ' '),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(anySale, { minLength: 1, maxLength: 20 }), dressing, async (rows, how) => {
      const plain = await readSales(textOf(rows))
      const columns = [...Object.keys(sale()), ...how.extra]
        .map((column, index) => ({ column, at: how.order[index] ?? 0 }))
        .sort((one, other) => one.at - other.at)
      const dressed = rows.map((row) =>
        Object.fromEntries(
          columns.map(({ column }) => {
            const cell = row[column] ?? 'what'
            return [column, cell.trim() === '' ? how.blank : cell]
          }),
        ),
      )
      const text = textOf(dressed, how.newline)
      const whole = `${how.bom ? '\uFEFF' : ''}${how.final ? text : text.slice(0, -how.newline.length)}`
      const { rows: parsed, unknown } = await read(how.zip ? gzipSync(whole) : whole, salesTable(DAY))
      expect(parsed).toEqual(plain)
      expect(unknown.sort()).toEqual([...how.extra].sort())
    }),
    runs(150, 10_000),
  )
})

test('any text in a number’s cell is that number, or a fault with line and column', async () => {
  const anything = fc.oneof(
    fc.string().filter((text) => !/[\t\n\r\0]/.test(text)),
    fc.constantFrom(
      '',
      ' ',
      '1.5',
      '1,000',
      '1e3',
      '0x10',
      '-',
      '--1',
      '1.000',
      '+1',
      '१',
      'NaN',
      '9'.repeat(17),
    ),
    fc.integer().map(String),
    fc.double().map(String),
  )
  /** The value of a decimal number, from its digits alone. */
  function milliOf(text: string): bigint {
    const [whole = '', part = ''] = text.split('.')
    return BigInt(`${whole || '0'}${part.slice(0, 3).padEnd(3, '0')}`)
  }
  const isExact = (milli: bigint): boolean => Number.isSafeInteger(Number(milli))

  await fc.assert(
    fc.asyncProperty(anything, fc.constantFrom('Units', 'Customer Price'), async (cell, column) => {
      const body = textOf([sale(), sale({ [column]: cell })])
      const text = cell.trim()
      // The price may be exact while its sum is not.
      const size = Math.abs(Number(text))
      fc.pre(column === 'Units' ? !(size > 1e10 && size < 1e16) : !(size > 1e12 && size < 1e13))
      const isRight =
        column === 'Units'
          ? /^-?\d{1,15}(\.0+)?$/.test(text)
          : /^(-?\d{1,15}(\.\d{1,3}0*)?)?$/.test(text) && isExact(milliOf(text))
      if (!isRight) {
        expect(await faultOf(readSales(body))).toMatchObject({ kind: 'unreadable', line: 3, column })
        return
      }
      const [, row] = await readSales(body)
      if (column === 'Units') expect(row?.units === Number(text)).toBe(true)
      else expect(BigInt(row?.price_milli ?? -1)).toBe(milliOf(text))
    }),
    runs(400, 40_000),
  )
})

test('truncated bytes are a fault, never fewer rows', async () => {
  const body = zipped(Array.from({ length: 300 }, (_, index) => sale({ Units: String(index + 1) })))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: body.length - 1 }), async (length) => {
      const cut = body.subarray(0, length)
      const fault = await faultOf(readSales(cut))
      expect(length < 2 ? ['truncated', 'foreign', 'unreadable'] : ['truncated']).toContain(fault.kind)
      expect(await faultOf(fingerprintOf(cut)).catch(() => 'fine')).toBeTruthy()
    }),
    runs(60, 2_000),
  )
})

test('a changed byte in the compressed file is a fault, or changes nothing', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => sale({ Units: String(index + 1) }))
  const body = zipped(rows)
  const right = JSON.stringify(await readSales(body))
  await fc.assert(
    fc.asyncProperty(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const spoiled = Buffer.from(body)
      spoiled[at] = (spoiled[at] ?? 0) ^ flip
      const parsed = await readSales(spoiled).then(JSON.stringify, () => right)
      expect(parsed).toBe(right)
    }),
    runs(150, 20_000),
  )
})

test('a report of many blocks keeps every row and numbers its lines', async () => {
  const rows = Array.from({ length: 5_000 }, (_, index) =>
    sale({ Units: String(index + 1), Title: `Größe ${index} 漢字` }),
  )
  const parsed = await readSales(zipped(rows))
  expect(parsed).toHaveLength(5_000)
  expect(parsed.every((row, index) => row.line === index + 2 && row.units === index + 1)).toBe(true)
  expect(parsed.every((row, index) => row.title === `Größe ${index} 漢字`)).toBe(true)
  rows[4_321] = sale({ Units: 'many' })
  expect((await faultOf(readSales(zipped(rows)))).message).toBe(
    'line 4323, column "Units": "many" is not a whole number',
  )
})

const html = '<!DOCTYPE html>\n<html><body>Sign in</body></html>'
const json = '{"errors":[{"status":"401","code":"NOT_AUTHORIZED"}]}'
const header = Object.keys(sale()).join('\t')
const line = Object.values(sale()).join('\t')

test.each<[string, Buffer | string, string]>([
  ['nothing', '', 'it is empty'],
  ['an empty gzip file', gzipSync(''), 'it is empty'],
  ['a web page', html, 'it is not a tab-separated report; it begins "<!DOCTYPE html>"'],
  ['JSON', gzipSync(json), `it is not a tab-separated report; it begins ${JSON.stringify(json)}`],
  [
    'a report without a column',
    textOf([level()]),
    'line 1: has no column "SKU", "Product Type Identifier", "Units",',
  ],
  ['a column twice', `${header}\tunits\n${line}\t3\n`, 'line 1, column "Units": appears twice'],
  [
    'too few cells',
    `${header}\n${line}\nAPPLE\tpro\n`,
    'line 3, column "Title": has 2 cells, but the header names 17',
  ],
  ['too many cells', `${header}\n${line}\tmore\n`, 'line 2: has 18 cells, but the header names 17'],
  ['a blank required cell', textOf([sale({ Units: ' ' })]), 'line 2, column "Units": is blank'],
  [
    'a day that is none',
    textOf([sale({ 'Begin Date': '31/12/2026' })]),
    'line 2, column "Begin Date": "31/12/2026" is not a day',
  ],
  [
    'another day',
    textOf([sale({ 'Begin Date': '05/02/2026' })]),
    'line 2, column "Begin Date": is 2026-05-02, but the report is of 2026-05-01',
  ],
  ['a NUL', textOf([sale(), sale({ Title: 'a\0b' })]), 'line 3: cell 3 has a NUL in it'],
  [
    'a cell without end',
    textOf([sale({ Title: 'x'.repeat(10_001) })]),
    'line 2, column "Title": has more than 10000 characters',
  ],
  ['a line without end', `${header}\n${'x'.repeat(500_000)}`, 'has a line of more than 256 kB'],
  [
    'a price without a currency',
    textOf([sale({ 'Customer Currency': ' ' })]),
    'line 2, column "Customer Currency": is blank but has a price',
  ],
  [
    'a fourth decimal',
    textOf([sale({ 'Customer Price': '9.9999' })]),
    'line 2, column "Customer Price": "9.9999" has more than three decimals',
  ],
  [
    'too much money',
    textOf([sale({ Units: '999999999', 'Customer Price': '999999999' })]),
    'line 2, column "Units": times the price is too great to be exact',
  ],
  [
    'what is not UTF-8',
    Buffer.concat([Buffer.from(`${header}\n${line}\n`), Buffer.from([0xff, 0x0a])]),
    'line 3: is not text in UTF-8',
  ],
  [
    'one line alone',
    'There were no sales',
    'it is not a tab-separated report; it begins "There were no sales"',
  ],
])('%s is one clear fault', async (_, body, problem) => {
  expect((await faultOf(readSales(body))).message).toContain(problem)
})

test.each([
  ['a web page', html, 'it is a web page, not a report'],
  ['JSON', json, 'it is JSON, not a report'],
  ['nothing', '', 'it is empty'],
])('recognizes %s by its first bytes', async (_, body, problem) => {
  expect((await faultOf(fingerprintOf(Buffer.from(body)))).message).toContain(problem)
  expect((await faultOf(fingerprintOf(gzipSync(body)))).message).toContain(problem)
})

test('the same report has the same fingerprint, compressed or not', async () => {
  const text = textOf([sale(), download()])
  const plain = await fingerprintOf(Buffer.from(text))
  expect(await fingerprintOf(gzipSync(text, { level: 1 }))).toEqual(plain)
  expect(await fingerprintOf(gzipSync(textOf([download(), sale()])))).not.toEqual(plain)
})

test('a report with only a header has no rows', async () => {
  expect(await readSales(`${header}\n`)).toEqual([])
  expect(await readSales(header)).toEqual([])
  expect(await readSales(`${header}\n\n\n`)).toEqual([])
})

test('columns are known under the names they had in other versions', async () => {
  const { Subscribers: _, 'Subscription Offer Name': __, ...older } = level()
  const one = {
    ...older,
    'Subscribers Raw': '36',
    'Promotional Offer Name': 'Spring',
    'Free Trial Win-Back Offers': '3',
  }
  const { rows, unknown } = await read(textOf([one]), subscriptionTable)
  expect(rows).toMatchObject([{ subscribers: 36, offer_name: 'Spring', win_back_free_trial: 3 }])
  expect(unknown).toEqual([])
  const both = await read(textOf([level({ 'Subscribers Raw': '36' })]), subscriptionTable)
  expect(both.rows).toMatchObject([{ subscribers: 37 }])
})
