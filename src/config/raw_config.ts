/** The raw configuration before validation: each value and where it was written. */
import { type ConfigIssue, type Path, pathText } from './checks/issues.ts'
import { isTable } from './setting.ts'

/** Where a value was written. */
export type ValueOrigin = Readonly<{
  kind: 'default' | 'file' | 'environment' | 'secret file'
  source: string
  line: number | null
  /** Whether all users of the machine can read the file. */
  isShared?: boolean
}>

export type RawConfig = ReturnType<typeof openRawConfig>

/**
 * Opens an empty raw configuration. `values` is the tree of values as in TOML. `issues` has one issue for each path and
 * source, because a later issue of a value usually follows from the first.
 */
export function openRawConfig() {
  const values: Record<string, unknown> = Object.create(null)
  const origins = new Map<string, ValueOrigin>()
  const issues: ConfigIssue[] = []

  /** Where the value at `path`, or else its nearest parent, was written. */
  function originOf(path: Path): ValueOrigin {
    for (let length = path.length; length > 0; length--) {
      const origin = origins.get(pathText(path.slice(0, length)))
      if (origin !== undefined) return origin
    }
    return { kind: 'default', source: 'the defaults', line: null }
  }

  /** The value that was written at exactly this path; undefined if there is none. */
  const get = (path: Path): unknown => valueAt(values, path)

  /** Whether a value was written at exactly this path. */
  const has = (path: Path): boolean => get(path) !== undefined

  /** Adds an issue: what is wrong at a path, and what to write instead. */
  function addIssue(path: Path, problem: string, advice: string, origin = originOf(path)): void {
    const text = pathText(path)
    const { source, line } = origin
    const known = issues.some((earlier) => earlier.path === text && earlier.source === source)
    if (known && text !== '') return
    issues.push({ path: text, line, source, problem, advice })
  }

  /** The table of a section or of one entry of a list, created if missing; null if the value is not a table. */
  function tableAt([section, entry]: Path): Record<string, unknown> | null {
    if (section === undefined) return values
    values[section] ??= entry === undefined ? {} : []
    const found: unknown = values[section]
    if (entry === undefined) return isTable(found) ? found : null
    if (!Array.isArray(found)) return null
    found[Number(entry)] ??= {}
    const inside: unknown = found[Number(entry)]
    return isTable(inside) ? inside : null
  }

  /** Replaces a value. Does nothing if its section is not a table: the schema reports that. */
  function set(path: Path, value: unknown, origin: ValueOrigin): void {
    const made = [path.slice(0, 1), path.slice(0, 2)].filter((above) => !has(above))
    const table = tableAt(path.slice(0, -1))
    const key = path.at(-1)
    if (table === null || key === undefined) return
    remove(path)
    table[key] = value
    origins.set(pathText(path), origin)
    // A missing setting of a section that this value made is reported at this value's origin.
    for (const above of made.map(pathText)) if (!origins.has(above)) origins.set(above, origin)
  }

  /** Removes a value and its origin. */
  function remove(path: Path): void {
    const table = tableAt(path.slice(0, -1))
    const key = path.at(-1)
    if (table === null || key === undefined) return
    delete table[key]
    const text = pathText(path)
    for (const known of origins.keys()) {
      if (known === text || known.startsWith(`${text}.`) || known.startsWith(`${text}[`))
        origins.delete(known)
    }
  }

  return { values, origins, issues, originOf, get, has, addIssue, set, remove }
}

function valueAt(tree: unknown, path: Path): unknown {
  let node = tree
  for (const key of path) node = isTable(node) || Array.isArray(node) ? Reflect.get(node, key) : undefined
  return node
}
