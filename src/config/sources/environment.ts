/** Settings from environment variables, which override the file. */
import type { Path } from '../checks/issues.ts'
import { closestMatch } from '../checks/suggest.ts'
import type { RawConfig, ValueOrigin } from '../raw_config.ts'
import { fileSettingOf, shapeOf } from '../setting.ts'
import { SECTIONS, type Section, sectionAt, settingAt, variableName } from '../settings.ts'
import { readToml } from './toml.ts'

const PREFIX = 'WINDFALL_'
const MAX_INDEX_DIGITS = 4

/** Variables that are not settings. */
const RESERVED = ['WINDFALL_CONFIG']

/** The setting that a variable sets, and whether it is a list. */
type VariableTarget = Readonly<{ name: string; path: Path; isList: boolean }>

/** The variables without an index: one for each setting of a section, one for each whole list. */
const VARIABLE_TARGETS: readonly VariableTarget[] = SECTIONS.flatMap((section) =>
  section.list ? [targetOf([section.name])] : targetsOf(section, section.name === '' ? [] : [section.name]),
)

function targetsOf(section: Section, above: Path): VariableTarget[] {
  return Object.keys(section.settings).map((key) => targetOf([...above, key]))
}

function targetOf(path: Path): VariableTarget {
  const setting = settingAt(path)
  return { name: variableName(path), path, isList: setting === null || shapeOf(setting) === 'list' }
}

/** The targets that a variable can name: the settings of one entry if it has an index, or else all without an index. */
function similarTargets(name: string): readonly VariableTarget[] {
  for (const section of SECTIONS.filter(({ list }) => list)) {
    const index = new RegExp(
      `^${variableName([section.name])}_(0|[1-9]\\d{0,${MAX_INDEX_DIGITS - 1}})_`,
    ).exec(name)?.[1]
    if (index !== undefined) return targetsOf(section, [section.name, Number(index)])
  }
  return VARIABLE_TARGETS
}

/** A variable that sets a setting. */
type Variable = Readonly<{ target: VariableTarget; text: string; origin: ValueOrigin }>

/** The WINDFALL_ variables: lists before their entries, entries in order. Adds an issue for each unknown variable. */
export function findVariables(raw: RawConfig, env: NodeJS.ProcessEnv): Variable[] {
  const names = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !RESERVED.includes(name))
  return names.sort(byIndex).flatMap((name) => {
    const origin: ValueOrigin = { kind: 'environment', source: name, line: null }
    const target = similarTargets(name).find((known) => known.name === name)
    if (target === undefined) reportUnknownVariable(raw, name, origin)
    return target === undefined ? [] : { target, text: env[name] ?? '', origin }
  })
}

/** Sorts a name that ends in _2 before one that ends in _10. A numeric collator of Intl takes 5 ms to open. */
const byIndex = (one: string, other: string): number => (padded(one) < padded(other) ? -1 : 1)
const padded = (name: string): string =>
  name.replace(/\d+/g, (digits) => digits.padStart(MAX_INDEX_DIGITS, '0'))

/** Overrides values of the file with those of the variables. */
export function applyVariables(raw: RawConfig, variables: readonly Variable[]): void {
  for (const variable of variables) applyVariable(raw, variable)
}

function reportUnknownVariable(raw: RawConfig, name: string, origin: ValueOrigin): void {
  const suggestion = suggestVariable(name)
  const advice =
    suggestion === null
      ? 'Unset it; `windfall init` writes a file with every setting.'
      : `Did you mean ${suggestion}?`
  raw.addIssue([], 'unknown variable', advice, origin)
}

/**
 * The closest variable of the section that the name begins with. Without such a section, the closest of all variables,
 * which are compared with and without their section.
 */
function suggestVariable(name: string): string | null {
  const targets = similarTargets(name)
  const inSameSection = targets.filter(({ path }) => path.length > 1 && name.startsWith(inSection(path)))
  const section = inSameSection[0]
  const keyOf = ({ path }: VariableTarget): string => String(path.at(-1))
  if (section !== undefined) {
    return closestMatch(name.slice(inSection(section.path).length), inSameSection, keyOf)?.name ?? null
  }
  const tail = name.slice(PREFIX.length)
  const reserved = closestMatch(tail, RESERVED, (known) => known.slice(PREFIX.length))
  return (
    reserved ??
    (
      closestMatch(tail, targets, (target) => target.name.slice(PREFIX.length)) ??
      closestMatch(tail, targets, keyOf)
    )?.name ??
    null
  )
}

/** The prefix of the variables in the same section, such as WINDFALL_SERVER_. */
const inSection = (path: Path): string => `${variableName(path.slice(0, -1))}_`

function applyVariable(raw: RawConfig, { target, text, origin }: Variable): void {
  if (!target.isList && text === '') {
    raw.addIssue(target.path, 'is empty', 'Unset it to use the default, or give it a value.', origin)
    return
  }
  if (!canInsert(raw, target, origin)) return
  const value = valueFrom(target, text)
  if (value === undefined) {
    raw.addIssue(target.path, 'is not a valid TOML list', listAdvice(target), origin)
    return
  }
  removeAlternative(raw, target.path)
  raw.set(target.path, value, origin)
}

/** A variable may change an entry or add the next one. A gap between entries is an error. */
function canInsert(raw: RawConfig, { path }: VariableTarget, origin: ValueOrigin): boolean {
  const [name = '', index, key = ''] = path
  const list = raw.values[name]
  if (typeof index !== 'number') return true
  const length = Array.isArray(list) ? list.length : 0
  if (index <= length) return true
  const advice = `Entries are numbered from 0 without gaps: write ${variableName([name, length, key])}.`
  raw.addIssue(path, `there is no ${name}[${index - 1}] before it`, advice, origin)
  return false
}

/**
 * A secret and the setting that names its file are alternatives: a variable for one removes the other from the file's
 * values.
 */
function removeAlternative(raw: RawConfig, path: Path): void {
  const key = String(path.at(-1))
  const settings = sectionAt(path)?.settings ?? {}
  const pair = Object.entries(settings)
    .filter(([, { secret }]) => secret)
    .map(([name, setting]) => [name, fileSettingOf(name, setting)])
    .find((names) => names.includes(key))
  const alternative = [...path.slice(0, -1), pair?.find((name) => name !== key) ?? '']
  if (pair && raw.has(alternative) && raw.originOf(alternative).kind === 'file') raw.remove(alternative)
}

/** The text as a TOML value. Text that does not fit the type stays text; the schema reports it. */
function valueFrom({ path, isList }: VariableTarget, text: string): unknown {
  if (isList && (text.trimStart().startsWith('[') || settingAt(path) === null)) return listOf(text)
  if (isList) return text.split(',').flatMap((item) => item.trim() || [])
  const setting = settingAt(path)
  if (setting !== null && shapeOf(setting) === 'table') return tomlValueOf(text) ?? text
  const fallback = setting?.fallback
  if (typeof fallback === 'number' && /^-?\d+$/.test(text)) return Number(text)
  if (typeof fallback === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

/** A TOML array; undefined where it is none. */
function listOf(text: string): unknown {
  const value = tomlValueOf(text)
  return Array.isArray(value) ? value : undefined
}

/** A TOML value; undefined where it is none. */
function tomlValueOf(text: string): unknown {
  const toml = readToml(`value = ${text}`)
  return 'values' in toml && Object.keys(toml.values).length === 1 ? toml.values.value : undefined
}

/** The first line of an entry of a list. Organizations begin with a slug. */
const FIRST_LINES: Readonly<Record<string, string>> = {
  accounts: 'vendor_numbers = ["80012345"]',
  apps: 'bundle_id = "com.example.app"',
  endpoints: 'name = "backend"',
  alert_channels: 'name = "phone"',
  alert_rules: 'name = "Every sale"',
}

function listAdvice({ name, path }: VariableTarget): string {
  if (settingAt(path) !== null)
    return `Separate items with commas, or write a TOML array: ${name}=["a", "b"].`
  const first = FIRST_LINES[String(path[0])] ?? 'slug = "acme"'
  return `Write an array of inline tables: ${name}=[{ ${first} }].`
}
