/** One setting: its schema, its default, and its texts in the example file, docs/configuration.md and issues. */
import * as v from 'valibot'

type SettingDocs = {
  /** What the setting does, in whole sentences. */
  reason: string
  /** What a value looks like; completes the sentence "Write …". */
  write: string
  /** An example value as TOML, for settings without a default. */
  example?: string
  /** The default in words, if it depends on other settings. */
  otherwise?: string
  /** Never shown in an issue, in a log line or by `windfall check`. */
  secret?: true
  /** The setting of a secret that names a file with it; by default the name of the secret and `_file`. */
  file?: string
  /** Read once at start: a reload does not apply it. Only for settings of a plain `[section]`. */
  restart?: true
}

export type Setting = SettingDocs & Readonly<{ schema: v.GenericSchema; fallback: unknown }>

/** A setting with a default. */
export function setting<S extends v.GenericSchema, const Default extends v.InferInput<S>>(
  value: S,
  fallback: Default,
  docs: SettingDocs,
) {
  return { ...docs, fallback, schema: v.optional(value, () => fallback) }
}

/** A setting that may be left out; its value is null then. */
export function optionalSetting<S extends v.GenericSchema>(
  value: S,
  docs: SettingDocs & { example: string },
) {
  return { ...docs, fallback: null, schema: v.optional(v.nullable(value), null) }
}

/** A required setting. */
export function requiredSetting<S extends v.GenericSchema>(
  value: S,
  docs: SettingDocs & { example: string },
) {
  return { ...docs, fallback: undefined, schema: value }
}

/** The valibot schema of a TOML table with these settings. `checkUnknownKeys` reports unknown keys. */
export function table<S extends Record<string, { schema: v.GenericSchema }>>(settings: S) {
  const schemas = Object.fromEntries(Object.entries(settings).map(([name, { schema }]) => [name, schema]))
  // The type of Object.fromEntries does not tell which name has which schema.
  return v.pipe(v.custom<Record<string, unknown>>(isTable), v.object(schemas as Schemas<S>))
}

type Schemas<S extends Record<string, { schema: v.GenericSchema }>> = { [Name in keyof S]: S[Name]['schema'] }

/** Whether a value is a TOML table. Lists and dates, which are objects too, are not. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** A value of the setting as TOML: its example, or else its default. */
export function exampleOf(setting: Setting): string {
  return setting.example ?? tomlText(setting.fallback)
}

/** Whether a value of the setting is a list or a table, by its example. */
export function shapeOf(setting: Setting): 'list' | 'table' | 'plain' {
  const example = exampleOf(setting)
  return example.startsWith('[') ? 'list' : example.startsWith('{') ? 'table' : 'plain'
}

/** The setting that names a file with the secret `key`. */
export const fileSettingOf = (key: string, setting: Setting | undefined): string =>
  setting?.file ?? `${key}_file`

/** A value as TOML, on one line. */
export function tomlText(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(tomlText).join(', ')}]` : JSON.stringify(value)
}
