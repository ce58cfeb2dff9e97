/** What we compute: the settings that apply, each with who said so and why one would change it. Secrets are not told. */
import { pathText } from './checks/issues.ts'
import type { Whereabouts } from './load.ts'
import type { Origin } from './raw_config.ts'
import { isTable, type Setting, tomlText } from './setting.ts'
import { type Config, SECTIONS, type Section, variableName } from './settings.ts'

/** `place` names the line, the variable or the key file; null for a default. Of a secret only whether it is set. */
type ToldSetting = {
  path: string
  key: string
  value: unknown
  is_secret: boolean
  is_set: boolean
  source: Origin['kind']
  place: string | null
  /** In words or as TOML text; null where there is none. */
  default: string | null
  variable: string
  reason: string
  needs_restart: boolean
}
type ToldSection = { name: string; reason: string; settings: ToldSetting[] }

/** Every section, of lists each entry, in the order of the example file. */
export function toldSettings(config: Config, from: Whereabouts): ToldSection[] {
  return SECTIONS.map((section) => ({
    name: section.name,
    reason: section.reason,
    settings: placesOf(section, config).flatMap(({ above, values }) =>
      Object.entries(section.settings).flatMap(([key, setting]) =>
        // What only names the file of a secret is told as the place of that.
        Object.hasOwn(values, key) ? [told([...above, key], values[key], setting, from)] : [],
      ),
    ),
  }))
}

type Place = { above: (string | number)[]; values: Record<string, unknown> }

function placesOf({ name, list }: Section, config: Config): Place[] {
  const all: Record<string, unknown> = config
  if (name === '') return [{ above: [], values: all }]
  const value = all[name]
  if (!list) return isTable(value) ? [{ above: [name], values: value }] : []
  const entries: unknown[] = Array.isArray(value) ? value : []
  return entries.flatMap((values, index) => (isTable(values) ? [{ above: [name, index], values }] : []))
}

function told(
  path: (string | number)[],
  value: unknown,
  { secret, restart, reason, fallback, otherwise }: Setting,
  { sources, places }: Whereabouts,
): ToldSetting {
  const text = pathText(path)
  const usual = fallback === null || fallback === undefined ? null : tomlText(fallback)
  return {
    path: text,
    key: String(path.at(-1)),
    value: secret ? null : value,
    is_secret: secret === true,
    is_set: value !== null,
    source: sources.get(text) ?? 'default',
    place: places.get(text) ?? null,
    default: otherwise ?? usual,
    variable: variableName(path),
    reason,
    needs_restart: restart === true,
  }
}
