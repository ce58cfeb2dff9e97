/** Writes JSON Schema as TypeScript, in the format of the code. */

/** The parts of JSON Schema that the OpenAPI document has in answers and webhooks. */
export type Schema = {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  $ref?: string
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
  description?: string
}

const LINE_CHARACTERS = 110
const SCALARS = new Set(['string', 'number', 'boolean', 'null'])

/** A literal in single quotes. */
export const quoted = (text: string): string => `'${text}'`

/** A doc comment on a line of its own; nothing without a text. */
export const commentOf = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text} */\n`

/** The declaration of an object. `isOpen`: it has further fields, which the document cannot say. */
export function interfaceOf(name: string, schema: Schema, { isOpen = false, base = '' } = {}): string {
  const rest = isOpen ? '\n  [field: string]: unknown' : ''
  const heritage = base === '' ? '' : ` extends ${base}`
  return `${commentOf(schema.description, '')}export interface ${name}${heritage} ${fieldsOf(schema, '', rest)}`
}

/** The fields of an object within braces. */
function fieldsOf({ properties = {}, required = [] }: Schema, indent: string, rest = ''): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const start = `${inner}${name}${required.includes(name) ? '' : '?'}:`
    return `${commentOf(descriptionOf(schema), inner)}${start}${wrapped(start, typeOf(schema, inner), inner)}`
  })
  return `{\n${fields.join('\n')}${rest}\n${indent}}`
}

/** A value may be described where the alternative is null. */
const descriptionOf = ({ description, anyOf = [] }: Schema): string | undefined =>
  description ?? anyOf.find((one) => one.description !== undefined)?.description

/** A type on the line of its field if it fits there. Otherwise a union has a line for each part. */
function wrapped(start: string, type: string, indent: string): string {
  const fits = (text: string): boolean => `${start} ${text}`.length <= LINE_CHARACTERS
  const short = type.includes('/**') ? type : onOneLine(type)
  if (!short.includes('\n') && fits(short)) return ` ${short}`
  return type.includes('\n') ? ` ${type}` : unionLines(type.split(' | '), indent)
}

const onOneLine = (type: string): string =>
  type
    .replaceAll(/\{\n\s*/g, '{ ')
    .replaceAll(/\n\s*\}/g, ' }')
    .replaceAll(/\n\s*/g, '; ')

/** The parts of a union on lines of their own. */
export const unionLines = (parts: readonly string[], indent: string): string =>
  parts.map((part) => `\n${indent}  | ${part}`).join('')

/** @throws Error for a schema that this file does not know. */
function typeOf(schema: Schema, indent: string): string {
  const { type, anyOf, $ref, items, properties, additionalProperties } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? ''
  if ('const' in schema) return literalOf(schema.const)
  if (schema.enum) return schema.enum.map(literalOf).join(' | ')
  if (anyOf) return anyOf.map((one) => typeOf(one, indent)).join(' | ')
  if (type === 'array' && items) return arrayOf(typeOf(items, indent))
  if (type === 'object' && additionalProperties)
    return `Record<string, ${entryOf(additionalProperties, indent)}>`
  if (type === 'object' && properties) return fieldsOf(schema, indent)
  if (type !== undefined && SCALARS.has(type)) return type
  throw new Error(`no TypeScript is known for ${JSON.stringify(schema)}`)
}

const literalOf = (value: unknown): string => (typeof value === 'string' ? quoted(value) : String(value))
const entryOf = (schema: Schema, indent: string): string =>
  Object.keys(schema).length === 0 ? 'unknown' : typeOf(schema, indent)
const arrayOf = (item: string): string => (/^[\w]+$|^\{[\s\S]*\}$/.test(item) ? `${item}[]` : `(${item})[]`)
