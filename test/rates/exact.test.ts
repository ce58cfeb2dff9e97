import fc from 'fast-check'
import { expect, test } from 'vitest'
import { convertMilli, nanoOf, parseExactly, quotientNano, rateText } from '../../src/rates/exact.ts'
import { runs } from '../random.ts'

const amount = fc.integer({ min: -10_000_000_000, max: 10_000_000_000 })
/** From a third of a dollar to the value of a dong. */
const nano = fc.integer({ min: 300_000_000, max: 26_000_000_000_000 })

test('returns the same amount when both rates are equal', () => {
  fc.assert(
    fc.property(amount, nano, (milli, rate) => {
      expect(convertMilli(milli, rate, rate)).toBe(milli)
    }),
    runs(500, 50_000),
  )
})

test('differs after a round trip by at most two roundings', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), nano, nano, (milli, a, b) => {
      const back = convertMilli(convertMilli(milli, a, b), b, a)
      const apart = BigInt(Math.abs(back - milli))
      // Half a thousandth of b is worth a/2b thousandths of a; the second rounding adds a half.
      expect(2n * BigInt(b) * apart <= BigInt(a) + BigInt(b)).toBe(true)
    }),
    runs(500, 50_000),
  )
})

test('rounds to the nearest integer, half to even', () => {
  fc.assert(
    fc.property(amount, nano, nano, (milli, a, b) => {
      const result = BigInt(convertMilli(milli, a, b))
      const twiceOff = 2n * (BigInt(milli) * BigInt(b) - result * BigInt(a))
      const size = twiceOff < 0n ? -twiceOff : twiceOff
      expect(size < BigInt(a) || (size === BigInt(a) && result % 2n === 0n)).toBe(true)
    }),
    runs(500, 50_000),
  )
})

test('converts a refund to the amount of its charge', () => {
  fc.assert(
    fc.property(amount, nano, nano, (milli, a, b) => {
      expect(convertMilli(-milli, a, b) + convertMilli(milli, a, b)).toBe(0)
    }),
    runs(200, 20_000),
  )
})

test('refuses results that a number cannot hold exactly', () => {
  expect(() => convertMilli(Number.MAX_SAFE_INTEGER, 1_000_000_000, 26_000_000_000_000)).toThrow(RangeError)
  expect(() => convertMilli(0.5, 1, 1)).toThrow(RangeError)
  expect(() => convertMilli(2 ** 53, 1, 1)).toThrow(RangeError)
})

test('parses and prints a rate without losing digits', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (rate) => {
      expect(nanoOf(rateText(rate))).toBe(rate)
    }),
    runs(500, 20_000),
  )
})

test.each([
  ['0.1', 100_000_000],
  ['1', 1_000_000_000],
  ['26000', 26_000_000_000_000],
  ['3.8e-5', 38_000],
  ['1.5E+2', 150_000_000_000],
  ['0.0000000005', null],
  ['0.0000000015', 2],
  ['0.0000000025', 2],
  ['0.12345678949999999999999999', 123_456_789],
  ['9007199.254740991', Number.MAX_SAFE_INTEGER],
  ['9007200', null],
])('%s is %s billionths', (text, expected) => {
  expect(nanoOf(text)).toBe(expected)
})

test.each([
  '',
  '0',
  '0.000',
  '-1',
  '+1',
  '1,5',
  '1.',
  '.5',
  'NaN',
  'Infinity',
  '1e',
  '1e999',
  '0x10',
  ' 1',
  '1 ',
])('%j is no rate', (text) => {
  expect(nanoOf(text)).toBeNull()
})

test('converts no JSON number to a float', () => {
  expect(parseExactly('{"a":0.1000000000000000055511151231257827,"b":[1e-9,12],"c":"0.1"}')).toEqual({
    a: '0.1000000000000000055511151231257827',
    b: ['1e-9', '12'],
    c: '0.1',
  })
})

test('converts a rate against the euro to one against the dollar', () => {
  // 163.45 yen ÷ 1.0837 dollars = 150.825874319…
  expect(quotientNano('163.45', '1.0837')).toBe(150_825_874_319)
  expect(quotientNano('1', '1.25')).toBe(800_000_000)
  expect(quotientNano('1', '0')).toBeNull()
})
