/** What we compute: what was written and where, before anybody has said whether it makes sense. */
import { type ConfigIssue, type Path, pathText } from './checks/issues.ts'
import { isTable } from './setting.ts'

/** Where a value was written. */
export type ValueOrigin = Readonly<{
  kind: 'default' | 'file' | 'environment' | 'secret file'
  source: string
  line: number | null
}>

export type RawConfig = ReturnType<typeof openRawConfig>

/**
 * An empty draft. `values` is the tree of what was written, as TOML would have it; `complaints` gathers all that
 * is wrong with it, one for each place, because what follows from a first fault helps nobody.
 */
export function openRawConfig() {
  const values: Record<string, unknown> = Object.create(null)
  const origins = new Map<string, ValueOrigin>()
  const issues: ConfigIssue[] = []

  /** Where the value at `path`, or the nearest thing around it, was written. */
  function originOf(path: Path): ValueOrigin {
    for (let length = path.length; length > 0; length--) {
      const origin = origins.get(pathText(path.slice(0, length)))
      if (origin !== undefined) return origin
    }
    return { kind: 'default', source: 'the defaults', line: null }
  }

  /** Whether something was written at exactly this path. */
  function has(path: Path): boolean {
    let here: unknown = values
    for (const key of path) here = isTable(here) || Array.isArray(here) ? Reflect.get(here, key) : undefined
    return here !== undefined
  }

  /** Says what is wrong at a place, and what to write instead. */
  function addIssue(path: Path, problem: string, advice: string, origin = originOf(path)): void {
    const text = pathText(path)
    const { source, line } = origin
    const known = issues.some((earlier) => earlier.path === text && earlier.source === source)
    if (known && text !== '') return
    issues.push({ path: text, line, source, problem, advice })
  }

  /** The table of a section, or of one entry of a list, made where nothing is; null where something else stands. */
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

  /** Puts a value in place of what was there. Where its section is no table nothing happens: that is complained of anyway. */
  function set(path: Path, value: unknown, origin: ValueOrigin): void {
    const table = tableAt(path.slice(0, -1))
    const key = path.at(-1)
    if (table === null || key === undefined) return
    remove(path)
    table[key] = value
    origins.set(pathText(path), origin)
    // What is missing beside it was forgotten by whoever wrote this, unless the file has the section.
    for (const above of [path.slice(0, 1), path.slice(0, 2)].map(pathText)) {
      if (!origins.has(above)) origins.set(above, origin)
    }
  }

  /** Takes a value out, and with it where it came from. */
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

  return { values, origins, issues, originOf, has, addIssue, set, remove }
}
