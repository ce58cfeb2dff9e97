/** Parses input with a schema, or refuses it with a list of the invalid fields. */
import * as v from 'valibot'
import { type FieldError, Refusal } from '../errors.ts'

const MAX_FAULTS = 100
const MAX_PATH_LENGTH = 200

function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map((item) => String(item.key)) ?? []
  return keys.join('.').slice(0, MAX_PATH_LENGTH)
}

/** The message of an issue without the received value, which may be long or secret. */
function messageOf(issue: v.BaseIssue<unknown>): string {
  const isMissing = issue.input === undefined && issue.kind === 'schema' && issue.path !== undefined
  if (isMissing) return 'is required'
  if (issue.expected === 'never') return 'is not a field of this request'
  // A message of valibot itself, which is for programmers.
  const [, what] = /^Invalid ([a-z ]+): (?:Expected|Received) /.exec(issue.message) ?? []
  if (what === undefined || what === 'format') return issue.message.replace(/ but received ".*"$/s, '')
  if (issue.expected === null) return what.endsWith('integer') ? 'must be a whole number' : 'is not valid'
  if (issue.expected === '!0') return 'must not be empty'
  return `must ${what === 'length' ? 'have a length of' : 'be'} ${expectedWords(issue.expected)}`
}

/** The words of what valibot expected, such as `("on" | null)` or `>=1`. */
function expectedWords(expected: string): string {
  const names = expected.replace(/^\((.*)\)$/s, '$1').split(' | ')
  const words = names.filter((name) => name !== 'undefined').map((name) => WORDS[name] ?? limitWords(name))
  const last = words.pop() ?? ''
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'an object',
}

const limitWords = (name: string): string =>
  name
    .replace(/^>=/, 'at least ')
    .replace(/^<=/, 'at most ')
    .replace(/^>/, 'more than ')
    .replace(/^</, 'less than ')
    .replaceAll('"', '')

/**
 * Parses `input` with `schema`.
 *
 * @throws Refusal 400 with `code`. It lists up to 100 faults by path, such as `attributes.plan`; '' is the whole input.
 */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  code = 'invalid_request',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const faults = result.issues.map((issue) => ({ path: pathOf(issue), message: messageOf(issue) }))
  throw invalid(faults, code)
}

/** A refusal 400 that lists up to 100 faults by path. */
export function invalid(faults: readonly FieldError[], code = 'invalid_request'): Refusal {
  const [{ path, message } = { path: '', message: 'The request is not valid' }] = faults
  const others = faults.length - 1
  const detail = `${path === '' ? '' : `${path}: `}${message}${others > 0 ? ` (and ${others} more)` : ''}`
  return new Refusal(400, code, detail, { errors: faults.slice(0, MAX_FAULTS) })
}

export type QuerySchema = v.ObjectSchema<v.ObjectEntries, undefined>

/**
 * Parses the parameters of a query. If `isStrict`, unknown and repeated parameters are refused. Otherwise the last of
 * several values is used, and unknown parameters are ignored.
 *
 * @throws Refusal 400 `invalid_request`.
 */
export function parseQuery<Schema extends QuerySchema>(
  schema: Schema,
  query: URLSearchParams,
  isStrict: boolean,
): v.InferOutput<Schema> {
  if (isStrict && query.size > 0) {
    const faults = queryFaults(Object.keys(schema.entries), query)
    if (faults.length > 0) throw invalid(faults)
  }
  return parse(schema, Object.fromEntries(query))
}

function queryFaults(names: readonly string[], query: URLSearchParams): FieldError[] {
  const expectation = names.length === 0 ? 'this route has none' : `expected one of: ${names.join(', ')}`
  return [...new Set(query.keys())].flatMap((name) => {
    if (!names.includes(name)) return { path: name, message: `is not a parameter; ${expectation}` }
    return query.getAll(name).length > 1 ? { path: name, message: 'must be given only once' } : []
  })
}
