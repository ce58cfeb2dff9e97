/** What we compute: a value that fits a schema, or everything that is wrong with it. */
import * as v from 'valibot'
import { type Fault, Refusal } from '../errors.ts'

const mostFaults = 100
const longestPath = 200

function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map((item) => String(item.key)) ?? []
  return keys.join('.').slice(0, longestPath)
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
  const errors: Fault[] = result.issues
    .slice(0, mostFaults)
    .map((issue) => ({ path: pathOf(issue), message: messageOf(issue) }))
  const others = result.issues.length - 1
  const [{ path, message } = { path: '', message: 'It is not valid' }] = errors
  const detail = `${path === '' ? '' : `${path}: `}${message}${others === 0 ? '' : ` (and ${others} more)`}`
  throw new Refusal(400, code, detail, { errors })
}
