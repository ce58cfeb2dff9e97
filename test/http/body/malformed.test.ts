import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultLocation, faultOffset } from '../../../src/http/body/malformed.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each([
  ['', 0],
  ['abc', 0],
  ['{a:1}', 1],
  ['{"a": x}', 6],
  ['{"a": 1', 7],
  ['{"a" 1}', 5],
  ['{"a":1,}', 7],
  ['{"a":1}x', 7],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['[}', 1],
  ['{]', 1],
  [']', 0],
  ['01', 1],
  ['1.', 1],
  ['"abc', 4],
  ['["a\n"]', 3],
  ['"\\x"', 1],
  ['"\\u12g4"', 1],
  ["{'a':1}", 1],
  ['\uFEFF{}', 0],
])('%j stops being JSON at %i', (text, place) => {
  expect(faultOffset(text)).toBe(place)
})

test('reports a place as line and column', () => {
  expect(faultLocation('{\n  "a": 1,\n  "b": oops\n}')).toBe('line 3, column 8')
  expect(faultLocation('{"a":\n')).toBe('it ends too early, at line 2, column 1')
})

test('finds a fault where JSON.parse does, in mutated JSON', () => {
  const mutated = fc
    .tuple(fc.json(), fc.nat(), fc.nat(3), fc.string({ maxLength: 2, unit: 'binary' }))
    .map(([text, at, cut, put]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + put + text.slice(place + cut)
    })
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string(), fc.json()), (text) => {
      expect(faultOffset(text) === null).toBe(isJson(text))
    }),
    { numRuns: 3000 },
  )
})

test('a text is valid up to the reported place', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, at) => {
      const cut = text.slice(0, at % (text.length + 1))
      const place = faultOffset(`${cut}\u0000`)
      // A word or a number cut in half is at fault from its beginning, everything else from the cut on.
      expect(place).not.toBeNull()
      expect(cut.slice(place ?? 0)).toMatch(/^[\w.+-]*$|^\\u?[0-9a-fA-F]*$/)
    }),
    { numRuns: 1000 },
  )
})

test('handles half a million open brackets without recursion', () => {
  expect(faultOffset('['.repeat(500_000))).toBe(500_000)
})
