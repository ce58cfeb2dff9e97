/** What we compute: what a schema checks by a function, said in JSON Schema for the OpenAPI document. */
import * as v from 'valibot'

/** Under which name a schema's metadata holds them. */
export const KEY = 'json_schema'

/** Keywords of JSON Schema. Undefined takes one away. */
type Keywords = Readonly<Record<string, unknown>>

/**
 * An action that checks nothing and adds `keywords` to what the OpenAPI document says of a schema. They replace those that
 * the document reads off the actions before it. It belongs before any transformation in a pipe.
 */
export const jsonSchema = <Input>(keywords: Keywords) =>
  v.metadata<Input, { [KEY]: Keywords }>({ [KEY]: keywords })

/** The keywords of such an action; null for any other action. */
export function keywordsOf(action: object): Keywords | null {
  const { metadata } = action as { metadata?: { [KEY]?: Keywords } }
  return metadata?.[KEY] ?? null
}

/** What a schema is described as, wherever in its pipe, also behind a transformation, and whether it is optional. */
export function descriptionOf(schema: v.GenericSchema): string | undefined {
  const { wrapped } = schema as { wrapped?: v.GenericSchema }
  return v.getDescription(schema) ?? (wrapped && descriptionOf(wrapped))
}
