/** What we compute: one setting: its value, its default, and the words that the example file, docs/configuration.md and complaints use. */
import * as v from 'valibot'

type SettingDocs = {
  /** Why one would change it, in whole sentences. */
  reason: string
  /** What a value looks like, to finish the sentence "Write …". */
  write: string
  /** TOML text of a value, for settings that have no default of their own. */
  example?: string
  /** The default in words, where it follows from other settings. */
  otherwise?: string
  /** Never shown in a complaint, a log line or by `windfall check`. */
  secret?: true
  /** Read once at start: a reload cannot take it over. */
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

/** A setting that may be left out and then has no value. */
export function optionalSetting<S extends v.GenericSchema>(
  value: S,
  docs: SettingDocs & { example: string },
) {
  return { ...docs, fallback: null, schema: v.optional(v.nullable(value), null) }
}

/** A setting that must be written. */
export function requiredSetting<S extends v.GenericSchema>(
  value: S,
  docs: SettingDocs & { example: string },
) {
  return { ...docs, fallback: undefined, schema: value }
}

/** The valibot schema of a TOML table with these settings. Unknown keys are left for `unknown.ts` to name. */
export function table<S extends Record<string, { schema: v.GenericSchema }>>(settings: S) {
  const schemas = Object.fromEntries(Object.entries(settings).map(([name, { schema }]) => [name, schema]))
  // Object.fromEntries forgets which name has which schema.
  return v.pipe(v.custom<Record<string, unknown>>(isTable), v.object(schemas as Schemas<S>))
}

type Schemas<S extends Record<string, { schema: v.GenericSchema }>> = { [Name in keyof S]: S[Name]['schema'] }

/** Whether it is a TOML table: lists and dates are objects too. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** A value of the setting as TOML text: its default, or an example where it has none. */
export function exampleOf(setting: Setting): string {
  return setting.example ?? tomlText(setting.fallback)
}

/** A value as it stands in a TOML file, on one line. */
export function tomlText(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(tomlText).join(', ')}]` : JSON.stringify(value)
}
