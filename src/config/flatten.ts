/** Flattens a configuration into single values with their paths. */
import type { Path } from './checks/issues.ts'
import { isTable } from './setting.ts'

/** Every value in a tree with its path. A list of plain values counts as one value. */
export function flatten(value: unknown, path: Path = []): [Path, unknown][] {
  if (isTable(value)) return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]))
  if (!Array.isArray(value) || !value.some(isTable)) return [[path, value]]
  return value.flatMap((inner: unknown, index) => flatten(inner, [...path, index]))
}
