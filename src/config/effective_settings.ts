/** The settings in effect, each with its source and description. Secrets are not included. */
import { pathText } from './checks/issues.ts'
import type { ConfigSources } from './load.ts'
import type { ValueOrigin } from './raw_config.ts'
import { isTable, type Setting, tomlText } from './setting.ts'
import { type Config, SECTIONS, type Section, variableName } from './settings.ts'

/** `place` names the line, the variable or the key file; null for a default. The value of a secret is always null. */
type EffectiveSetting = {
  path: string
  key: string
  value: unknown
  is_secret: boolean
  is_set: boolean
  source: ValueOrigin['kind']
  place: string | null
  /** In words or as TOML; null if the setting has no default. */
  default: string | null
  variable: string
  reason: string
  needs_restart: boolean
}
type EffectiveSection = { name: string; reason: string; settings: EffectiveSetting[] }

/** Every section, with each entry of a list, in the order of the example file. */
export function effectiveSettings(config: Config, sources: ConfigSources): EffectiveSection[] {
  return SECTIONS.map((section) => ({
    name: section.name,
    reason: section.reason,
    settings: tablesOf(section, config).flatMap(({ above, values }) =>
      Object.entries(section.settings).flatMap(([key, setting]) =>
        // A loaded configuration has no `…_file` settings. The `place` of a secret names its file.
        Object.hasOwn(values, key) ? [describeSetting([...above, key], values[key], setting, sources)] : [],
      ),
    ),
  }))
}

type SettingTable = { above: (string | number)[]; values: Record<string, unknown> }

function tablesOf({ name, list }: Section, config: Config): SettingTable[] {
  const all: Record<string, unknown> = config
  if (name === '') return [{ above: [], values: all }]
  const value = all[name]
  if (!list) return isTable(value) ? [{ above: [name], values: value }] : []
  const entries: unknown[] = Array.isArray(value) ? value : []
  return entries.flatMap((values, index) => (isTable(values) ? [{ above: [name, index], values }] : []))
}

const isEmptyTable = (value: unknown): boolean => isTable(value) && Object.keys(value).length === 0

function describeSetting(
  path: (string | number)[],
  value: unknown,
  { secret, restart, reason, fallback, otherwise }: Setting,
  { sourceKindByPath, locationByPath }: ConfigSources,
): EffectiveSetting {
  const text = pathText(path)
  const defaultValue = fallback === null || fallback === undefined ? null : tomlText(fallback)
  return {
    path: text,
    key: String(path.at(-1)),
    value: secret ? null : value,
    is_secret: secret === true,
    is_set: value !== null && !isEmptyTable(value),
    source: sourceKindByPath.get(text) ?? 'default',
    place: locationByPath.get(text) ?? null,
    default: otherwise ?? defaultValue,
    variable: variableName(path),
    reason,
    needs_restart: restart === true,
  }
}
