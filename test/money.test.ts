import fc from 'fast-check'
import { expect, test } from 'vitest'
import { divideHalfEven, multiplyMilli, parseMilli } from '../src/money.ts'
import { runs } from './random.ts'

test.each([
  ['0', 0],
  ['0.00', 0],
  ['-0.00', 0],
  ['209.30', 209_300],
  ['-85.43', -85_430],
  ['1.5', 1_500],
  ['0.001', 1],
  ['12.3450000', 12_345],
  ['007', 7_000],
  [' 9.99 ', 9_990],
  ['9007199254740.991', Number.MAX_SAFE_INTEGER],
])('%j is %i thousandths', (text, milli) => {
  expect(parseMilli(text)).toBe(milli)
})

test.each(['', ' ', '\t'])('refuses the blank %j as an amount', (text) => {
  expect(parseMilli(text)).toBeNull()
})

test.each([
  ['1,000.00', 'is not a decimal number'],
  ['1e3', 'is not a decimal number'],
  ['0x10', 'is not a decimal number'],
  ['.5', 'is not a decimal number'],
  ['5.', 'is not a decimal number'],
  ['+5', 'is not a decimal number'],
  ['--5', 'is not a decimal number'],
  ['(5.00)', 'is not a decimal number'],
  ['NaN', 'is not a decimal number'],
  ['Infinity', 'is not a decimal number'],
  ['٥', 'is not a decimal number'],
  ['1 0', 'is not a decimal number'],
  ['0.0001', 'has more than three decimals'],
  ['9007199254740.992', 'is too great to be exact'],
  ['1'.repeat(400), 'is too great to be exact'],
])('%j is refused: it %s', (text, problem) => {
  expect(() => parseMilli(text)).toThrow(new RangeError(problem))
})

test('parses every formatted amount to the same value', () => {
  const amounts = fc.maxSafeInteger()
  fc.assert(
    fc.property(amounts, (milli) => {
      const digits = String(Math.abs(milli)).padStart(4, '0')
      const text = `${milli < 0 ? '-' : ''}${digits.slice(0, -3)}.${digits.slice(-3)}`
      expect(parseMilli(text)).toBe(milli)
    }),
    runs(500, 50_000),
  )
})

test('refuses products that are not exact', () => {
  expect(multiplyMilli(-3, 559_300)).toBe(-1_677_900)
  expect(Object.is(multiplyMilli(-1, 0), 0)).toBe(true)
  expect(() => multiplyMilli(3, Number.MAX_SAFE_INTEGER / 2)).toThrow('too great')
})

test('rounds halves to even, also below zero', () => {
  const halves = [1n, 3n, 5n, -1n, -3n, -5n].map((odd) => divideHalfEven(odd, 2n))
  expect(halves).toEqual([0n, 2n, 2n, 0n, -2n, -2n])
  expect([7n, -7n, 8n, -8n].map((one) => divideHalfEven(one, 3n))).toEqual([2n, -2n, 3n, -3n])
})
