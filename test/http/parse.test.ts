import * as v from 'valibot'
import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { parse } from '../../src/http/parse.ts'

const Call = v.object({
  appUserId: v.pipe(v.string(), v.minLength(1), v.maxLength(5)),
  attributes: v.optional(v.record(v.string(), v.union([v.string(), v.boolean()]))),
  list: v.optional(v.array(v.object({ day: v.number() }))),
})

function refusalOf(input: unknown, code?: string): Refusal {
  try {
    parse(Call, input, code)
  } catch (error) {
    if (error instanceof Refusal) return error
  }
  throw new Error('nothing was refused')
}

test('returns the output of the schema without unknown fields', () => {
  expect(parse(Call, { appUserId: 'anna', more: 1 })).toEqual({ appUserId: 'anna' })
})

test('lists every fault by its path', () => {
  const { status, code, errors } = refusalOf({
    appUserId: '',
    attributes: { plan: 7 },
    list: [{ day: 1 }, {}],
  })
  expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' })
  expect(errors?.map(({ path }) => path)).toEqual(['appUserId', 'attributes.plan', 'list.1.day'])
})

test('the detail has the first fault and the number of others', () => {
  expect(refusalOf({ appUserId: 'anna', list: 1 }).message).toBe('list: must be a list')
  expect(refusalOf({ list: 1 }).message).toMatch(/^appUserId: .*\(and 1 more\)$/)
})

test('reports a missing field as required', () => {
  const { message, errors } = refusalOf({})
  expect(errors?.[0]).toEqual({ path: 'appUserId', message: 'is required' })
  expect(message).toMatch(/^appUserId: is required/)
})

test('reports a value of the wrong type at the empty path', () => {
  expect(refusalOf(null).errors).toEqual([{ path: '', message: 'must be an object' }])
})

test('words what the schema expects without the terms of programmers', () => {
  const schema = v.strictObject({
    mode: v.picklist(['on', 'off']),
    limit: v.nullable(v.number()),
    count: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    name: v.pipe(v.string(), v.maxLength(3)),
    key: v.pipe(v.string(), v.nonEmpty()),
    pace: v.pipe(v.number(), v.integer('must be whole')),
  })
  const input = { mode: 'x', limit: 'x', count: -1.5, name: 'anna', key: '', pace: 1.5, more: 1 }
  let errors: unknown
  try {
    parse(schema, input)
  } catch (error) {
    errors = (error as Refusal).errors
  }
  expect(errors).toEqual([
    { path: 'mode', message: 'must be on or off' },
    { path: 'limit', message: 'must be a number' },
    { path: 'count', message: 'must be a whole number' },
    { path: 'count', message: 'must be at least 1' },
    { path: 'name', message: 'must have a length of at most 3' },
    { path: 'key', message: 'must not be empty' },
    { path: 'pace', message: 'must be whole' },
    { path: 'more', message: 'is not a field of this request' },
  ])
})

test('does not quote values, which may be secrets', () => {
  const refusal = refusalOf({ appUserId: 'sk_live_abcdefghijk', list: 'sk_live_"abcdefghijk\n"' })
  expect(JSON.stringify(refusal.errors) + refusal.message).not.toContain('abcdefghijk')
})

test('limits errors to a hundred and truncates long paths', () => {
  const attributes = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}${'x'.repeat(500)}`, 1]))
  const { errors, message } = refusalOf({ appUserId: 'anna', attributes })
  expect(errors).toHaveLength(100)
  expect(message.length).toBeLessThan(500)
  expect(errors?.every(({ path }) => path.length <= 200)).toBe(true)
})

test('uses the given error code', () => {
  expect(refusalOf({}, 'invalid_query').code).toBe('invalid_query')
})
