/** What we compute: settings that the environment gives, which win over the file. */
import type { Path } from '../checks/issues.ts'
import { closestMatch } from '../checks/suggest.ts'
import type { RawConfig, ValueOrigin } from '../raw_config.ts'
import { SECTIONS, type Section, settingAt, variableName } from '../settings.ts'
import { readToml } from './toml.ts'

const PREFIX = 'WINDFALL_'

/** Names which the environment may hold beside those of settings. */
const RESERVED = ['WINDFALL_CONFIG']

/** Where a variable's value goes, and whether it is a list. */
type VariableTarget = Readonly<{ name: string; path: Path; isList: boolean }>

/** The variables that do not count: one for each setting of a section, one for each whole list. */
const VARIABLE_TARGETS: readonly VariableTarget[] = SECTIONS.flatMap((section) =>
  section.list ? [targetOf([section.name])] : targetsOf(section, section.name === '' ? [] : [section.name]),
)

function targetsOf(section: Section, above: Path): VariableTarget[] {
  return Object.keys(section.settings).map((key) => targetOf([...above, key]))
}

function targetOf(path: Path): VariableTarget {
  const setting = settingAt(path)
  return { name: variableName(path), path, isList: setting === null || Array.isArray(setting.fallback) }
}

/** The places a variable of this name could mean: those of the entry it counts to, if it does, and all that do not count. */
function similarTargets(name: string): readonly VariableTarget[] {
  for (const section of SECTIONS.filter(({ list }) => list)) {
    const index = new RegExp(`^${variableName([section.name])}_(0|[1-9]\\d{0,3})_`).exec(name)?.[1]
    if (index !== undefined) return targetsOf(section, [section.name, Number(index)])
  }
  return VARIABLE_TARGETS
}

/** A variable whose name is that of a setting. */
type Variable = Readonly<{ target: VariableTarget; text: string; origin: ValueOrigin }>

/** The WINDFALL_ variables there are; complains of those that mean nothing. Lists come before their entries, entries in order. */
export function findVariables(raw: RawConfig, env: NodeJS.ProcessEnv): Variable[] {
  const names = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !RESERVED.includes(name))
  return names.sort(new Intl.Collator('en', { numeric: true }).compare).flatMap((name) => {
    const origin: ValueOrigin = { kind: 'environment', source: name, line: null }
    const target = similarTargets(name).find((known) => known.name === name)
    if (target === undefined) reportUnknownVariable(raw, name, origin)
    return target === undefined ? [] : { target, text: env[name] ?? '', origin }
  })
}

/** Puts the variables over what the file says. */
export function applyVariables(raw: RawConfig, variables: readonly Variable[]): void {
  for (const variable of variables) applyVariable(raw, variable)
}

function reportUnknownVariable(raw: RawConfig, name: string, origin: ValueOrigin): void {
  const suggestion = suggestVariable(name)
  const advice =
    suggestion === null
      ? 'Unset it; `windfall init` writes down every setting there is.'
      : `Did you mean ${suggestion}?`
  raw.addIssue([], 'unknown variable', advice, origin)
}

/** With the name of a section in front one of its settings is meant; otherwise any, whose section may have been left out. */
function suggestVariable(name: string): string | null {
  const places = similarTargets(name)
  const within = places.filter(({ path }) => path.length > 1 && name.startsWith(inSection(path)))
  const section = within[0]
  const keyOf = ({ path }: VariableTarget): string => String(path.at(-1))
  if (section !== undefined) {
    return closestMatch(name.slice(inSection(section.path).length), within, keyOf)?.name ?? null
  }
  const tail = name.slice(PREFIX.length)
  const reserved = closestMatch(tail, RESERVED, (known) => known.slice(PREFIX.length))
  return (
    reserved ??
    (
      closestMatch(tail, places, (target) => target.name.slice(PREFIX.length)) ??
      closestMatch(tail, places, keyOf)
    )?.name ??
    null
  )
}

/** How the variables begin that stand beside this one: WINDFALL_SERVER_ */
const inSection = (path: Path): string => `${variableName(path.slice(0, -1))}_`

function applyVariable(raw: RawConfig, { target, text, origin }: Variable): void {
  if (!target.isList && text === '') {
    raw.addIssue(target.path, 'is empty', 'Unset it to have the default, or give it a value.', origin)
    return
  }
  if (!canInsert(raw, target, origin)) return
  const value = valueFrom(target, text)
  if (value === undefined) {
    raw.addIssue(target.path, 'cannot be read as a TOML list', listAdvice(target), origin)
    return
  }
  removeAlternative(raw, target.path)
  raw.set(target.path, value, origin)
}

/** An entry may be changed or be the next one; a hole before it could not be filled. */
function canInsert(raw: RawConfig, { path }: VariableTarget, origin: ValueOrigin): boolean {
  const [name = '', index, key = ''] = path
  const list = raw.values[name]
  if (typeof index !== 'number') return true
  const length = Array.isArray(list) ? list.length : 0
  if (index <= length) return true
  const advice = `Entries count from 0 without a gap: write ${variableName([name, length, key])}.`
  raw.addIssue(path, `there is no ${name}[${index - 1}] before it`, advice, origin)
  return false
}

/** A secret and the file that holds it say the same thing: where the environment has one, the file's other one yields. */
function removeAlternative(raw: RawConfig, path: Path): void {
  const key = String(path.at(-1))
  const above = path.slice(0, -1)
  const alternative = [...above, key.endsWith('_file') ? key.slice(0, -'_file'.length) : `${key}_file`]
  const isSecret = settingAt(path)?.secret || settingAt(alternative)?.secret
  if (isSecret && raw.has(alternative) && raw.originOf(alternative).kind === 'file') raw.remove(alternative)
}

/** The text as TOML would have it: what is no number where one is wanted stays a text, to be complained of as such. */
function valueFrom({ path, isList }: VariableTarget, text: string): unknown {
  if (isList && (text.trimStart().startsWith('[') || settingAt(path) === null)) return listOf(text)
  if (isList) return text.split(',').flatMap((item) => item.trim() || [])
  const fallback = settingAt(path)?.fallback
  if (typeof fallback === 'number' && /^-?\d+$/.test(text)) return Number(text)
  if (typeof fallback === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

/** A TOML array; undefined where it is none. */
function listOf(text: string): unknown {
  const toml = readToml(`list = ${text}`)
  if (!('values' in toml) || Object.keys(toml.values).length !== 1) return undefined
  return Array.isArray(toml.values.list) ? toml.values.list : undefined
}

/** What an entry of a list begins with, for lists other than the organizations. */
const FIRST_LINES: Readonly<Record<string, string>> = {
  accounts: 'vendor_numbers = ["80012345"]',
  apps: 'bundle_id = "com.example.app"',
}

function listAdvice({ name, path }: VariableTarget): string {
  if (settingAt(path) !== null) return `Write items between commas, or a TOML array: ${name}=["a", "b"].`
  const first = FIRST_LINES[String(path[0])] ?? 'slug = "acme"'
  return `Write an array of inline tables: ${name}=[{ ${first} }].`
}
