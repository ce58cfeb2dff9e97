/** The form of an endpoint: its fields, the request bodies, and the errors of the server by field. */
import type { Problem } from '../../../http.ts'
import { sentence } from '../../../words.ts'
import type { Endpoint } from '../webhook_queries.ts'

export type HeaderDraft = { name: string; value: string }
export type EndpointDraft = {
  organization_id: string | null
  kind: Endpoint['kind']
  url: string
  name: string
  /** Null is the default types. */
  types: string[] | null
  apps: string[] | null
  environment: string | null
  ordered: boolean
  /** Null is no limit. */
  max_per_second: number | null
  /** Null leaves the stored headers as they are. */
  headers: HeaderDraft[] | null
}

export const emptyDraft = (organization_id: string | null): EndpointDraft => ({
  organization_id,
  kind: 'events',
  url: '',
  name: '',
  types: null,
  apps: null,
  environment: null,
  ordered: false,
  max_per_second: null,
  headers: [],
})

/** The draft that shows a stored endpoint. The values of its headers are not known. */
export const draftOf = ({
  organization_id,
  kind,
  url,
  name,
  types,
  apps,
  environment,
  ordered,
  max_per_second,
  header_names,
}: Endpoint): EndpointDraft => ({
  organization_id,
  kind,
  url,
  name,
  types,
  apps,
  environment,
  ordered,
  max_per_second,
  headers: header_names.length === 0 ? [] : null,
})

/** Headers by name, without empty rows. */
const headersOf = (headers: readonly HeaderDraft[]): Record<string, string> =>
  Object.fromEntries(headers.flatMap(({ name, value }) => (name.trim() === '' ? [] : [[name.trim(), value]])))

/** Types and order apply to events only. */
const eventFields = ({ kind, types, ordered }: EndpointDraft) => (kind === 'events' ? { types, ordered } : {})

/** The body that creates the endpoint. Without a name the server derives one. */
export const createBody = (draft: EndpointDraft): Record<string, unknown> => ({
  ...(draft.organization_id !== null && { organization_id: draft.organization_id }),
  ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
  kind: draft.kind,
  url: draft.url.trim(),
  apps: draft.apps,
  environment: draft.environment,
  max_per_second: draft.max_per_second,
  ...eventFields(draft),
  headers: headersOf(draft.headers ?? []),
})

/** The body that changes the endpoint from `before`: only what differs. */
export function changeBody(draft: EndpointDraft, before: EndpointDraft): Record<string, unknown> {
  const { headers, ...fields } = {
    name: draft.name.trim(),
    url: draft.url.trim(),
    apps: draft.apps,
    environment: draft.environment,
    max_per_second: draft.max_per_second,
    ...eventFields(draft),
    headers: draft.headers,
  }
  const changed = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof EndpointDraft]),
  )
  const isHeaderChange = headers !== null && JSON.stringify(headers) !== JSON.stringify(before.headers)
  return { ...Object.fromEntries(changed), ...(isHeaderChange && { headers: headersOf(headers) }) }
}

export type Field = 'url' | 'name' | 'types' | 'apps' | 'max_per_second' | 'headers'
const FIELDS: readonly Field[] = ['url', 'name', 'types', 'apps', 'max_per_second', 'headers']
const FIELD_OF_CODE: Record<string, Field> = { address_not_allowed: 'url', name_taken: 'name' }

/** `permit` is the text for config.toml that permits the refused address. `other` belongs to no field. */
export type FormProblem = {
  fields: Partial<Record<Field, string>>
  permit: string | null
  other: string | null
}

const PERMIT_SENTENCE =
  /\s*To permit it, set (allow = \[.*?"\]) in \[outbound\] of config\.toml, and reload or restart\./

const FIELD_SUBJECTS: Record<Field, string> = {
  url: 'The URL',
  name: 'The name',
  types: 'The list of events',
  apps: 'The list of apps',
  max_per_second: 'The number of requests',
  headers: 'The header',
}
/** The end of a sentence about a field, as the server validates it. */
const PREDICATE = /^(is|are|has|have|does|do|contains|must)\b/

/** The message as a sentence. `name`: that of the header. */
function fieldMessage(field: Field, message: string, name = ''): string {
  const words = message.replace(PERMIT_SENTENCE, '')
  const subject = [FIELD_SUBJECTS[field], name].filter(Boolean).join(' ')
  const text = PREDICATE.test(words) ? `${subject} ${words}` : sentence(words)
  return text.endsWith('.') ? text : `${text}.`
}

/** The lines of config.toml that a refusal of an address names; null if it names none. */
function permitLines(message: string): string | null {
  const line = PERMIT_SENTENCE.exec(message)?.[1]
  return line === undefined ? null : `[outbound]\n${line}`
}

/** The errors of a refused request by field. */
export function formProblem(problem: Problem | null): FormProblem {
  if (problem === null) return { fields: {}, permit: null, other: null }
  const fields: FormProblem['fields'] = {}
  for (const { path, message } of problem.errors) {
    const [first = '', ...rest] = path.split('.')
    const field = FIELDS.find((one) => one === first)
    if (field) fields[field] ??= fieldMessage(field, message, field === 'headers' ? rest.join('.') : '')
  }
  const field = FIELD_OF_CODE[problem.code]
  if (field) fields[field] ??= fieldMessage(field, problem.message)
  const messages = [problem.message, ...problem.errors.map(({ message }) => message)]
  const permit = messages.map(permitLines).find((lines) => lines !== null) ?? null
  return { fields, permit, other: Object.keys(fields).length === 0 ? problem.message : null }
}
