/** Adds JSON Schema keywords to valibot schemas whose checks cannot be converted to JSON Schema. */
import * as v from 'valibot'

/** The key of the keywords in the metadata of a schema. */
export const METADATA_KEY = 'json_schema'

/** Keywords of JSON Schema. The value undefined removes a keyword. */
type Keywords = Readonly<Record<string, unknown>>

/**
 * An action that checks nothing and adds `keywords` to the schema in the OpenAPI document. They replace keywords of the
 * preceding actions in the pipe. Place the action before any transformation.
 */
export const jsonSchema = <Input>(keywords: Keywords) =>
  v.metadata<Input, { [METADATA_KEY]: Keywords }>({ [METADATA_KEY]: keywords })

/** The keywords of an action that `jsonSchema` created; null for any other action. */
export function keywordsOf(action: object): Keywords | null {
  const { metadata } = action as { metadata?: { [METADATA_KEY]?: Keywords } }
  return metadata?.[METADATA_KEY] ?? null
}

/** The description of a schema. It may be anywhere in the pipe, after a transformation or inside an optional schema. */
export function descriptionOf(schema: v.GenericSchema): string | undefined {
  const { wrapped } = schema as { wrapped?: v.GenericSchema }
  return v.getDescription(schema) ?? (wrapped && descriptionOf(wrapped))
}
