/** Flattens a configuration into single values with their paths. */
import type { Path } from './checks/issues.ts'
import { isTable } from './setting.ts'
import { settingAt } from './settings.ts'

/** Every value in a tree with its path. The value of a setting counts as one value, also a table. */
export function flatten(value: unknown, path: Path = []): [Path, unknown][] {
  const isWithinSetting = settingAt(path) !== null
  if (isTable(value) && !isWithinSetting)
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]))
  if (!Array.isArray(value) || !value.some(isTable)) return [[path, value]]
  return value.flatMap((inner: unknown, index) => flatten(inner, [...path, index]))
}
