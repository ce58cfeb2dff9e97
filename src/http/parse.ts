/** Parses input by a schema, or refuses it with everything that is wrong with it. */
import * as v from 'valibot'
import { type FieldError, Refusal } from '../errors.ts'

const MAX_FAULTS = 100
const MAX_PATH_LENGTH = 200

function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map((item) => String(item.key)) ?? []
  return keys.join('.').slice(0, MAX_PATH_LENGTH)
}

/** Without the value itself, which may be a secret and may be long. */
function messageOf(issue: v.BaseIssue<unknown>): string {
  const isMissing = issue.input === undefined && issue.kind === 'schema' && issue.path !== undefined
  if (isMissing) return 'is required'
  return issue.message.replace(/ but received ".*"$/s, '')
}

/**
 * `input` as `schema` gives it back. Throws a `Refusal` 400 with `code` that names every fault by its path
 * (`attributes.plan`; '' is the whole), 100 of them at most.
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

/** A refusal 400 that names faults by their paths, 100 of them at most. */
export function invalid(faults: readonly FieldError[], code = 'invalid_request'): Refusal {
  const [{ path, message } = { path: '', message: 'It is not valid' }] = faults
  const others = faults.length - 1
  const detail = `${path === '' ? '' : `${path}: `}${message}${others > 0 ? ` (and ${others} more)` : ''}`
  return new Refusal(400, code, detail, { errors: faults.slice(0, MAX_FAULTS) })
}

export type QuerySchema = v.ObjectSchema<v.ObjectEntries, undefined>

/**
 * The parameters of a query by their schema. Where `isStrict`, a parameter that the schema does not have, or that is
 * given twice, is refused by name; elsewhere the last of several counts and others are ignored.
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
  const known = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`
  return [...new Set(query.keys())].flatMap((name) => {
    if (!names.includes(name)) return { path: name, message: `there is no parameter ${name}; ${known}` }
    return query.getAll(name).length > 1 ? { path: name, message: 'must be there once' } : []
  })
}
