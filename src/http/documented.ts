/** Adds JSON Schema keywords to valibot schemas, for checks that the OpenAPI document cannot derive. */
import * as v from 'valibot'

/** The metadata key of the keywords. */
export const KEY = 'json_schema'

/** Keywords of JSON Schema. Undefined removes one. */
type Keywords = Readonly<Record<string, unknown>>

/**
 * An action that checks nothing and adds `keywords` to the schema in the OpenAPI document. They replace the keywords
 * derived from the actions before it. Place it before any transformation in a pipe.
 */
export const jsonSchema = <Input>(keywords: Keywords) =>
  v.metadata<Input, { [KEY]: Keywords }>({ [KEY]: keywords })

/** The keywords of an action made by `jsonSchema`; null for any other action. */
export function keywordsOf(action: object): Keywords | null {
  const { metadata } = action as { metadata?: { [KEY]?: Keywords } }
  return metadata?.[KEY] ?? null
}

/** The description of a schema, anywhere in its pipe, also after a transformation or inside an optional schema. */
export function descriptionOf(schema: v.GenericSchema): string | undefined {
  const { wrapped } = schema as { wrapped?: v.GenericSchema }
  return v.getDescription(schema) ?? (wrapped && descriptionOf(wrapped))
}
