/** What we compute: settings that the environment gives, which win over the file. */
import type { Path } from '../checks/issues.ts'
import { nearest } from '../checks/suggest.ts'
import type { Draft, Origin } from '../raw_config.ts'
import { SECTIONS, type Section, settingAt, variableName } from '../settings.ts'
import { readToml } from './toml.ts'

const PREFIX = 'WINDFALL_'

/** Names which the environment may hold beside those of settings. */
const RESERVED = ['WINDFALL_CONFIG']

/** Where a variable's value goes, and whether it is a list. */
type Place = Readonly<{ name: string; path: Path; is_list: boolean }>

/** The variables that do not count: one for each setting of a section, one for each whole list. */
const PLACES: readonly Place[] = SECTIONS.flatMap((section) =>
  section.list ? [placeOf([section.name])] : placesOf(section, section.name === '' ? [] : [section.name]),
)

function placesOf(section: Section, above: Path): Place[] {
  return Object.keys(section.settings).map((key) => placeOf([...above, key]))
}

function placeOf(path: Path): Place {
  const setting = settingAt(path)
  return { name: variableName(path), path, is_list: setting === null || Array.isArray(setting.fallback) }
}

/** The places a variable of this name could mean: those of the entry it counts to, if it does, and all that do not count. */
function placesLike(name: string): readonly Place[] {
  for (const section of SECTIONS.filter(({ list }) => list)) {
    const index = new RegExp(`^${variableName([section.name])}_(0|[1-9]\\d{0,3})_`).exec(name)?.[1]
    if (index !== undefined) return placesOf(section, [section.name, Number(index)])
  }
  return PLACES
}

/** A variable whose name is that of a setting. */
type Variable = Readonly<{ place: Place; text: string; origin: Origin }>

/** The WINDFALL_ variables there are; complains of those that mean nothing. Lists come before their entries, entries in order. */
export function findVariables(draft: Draft, env: NodeJS.ProcessEnv): Variable[] {
  const names = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !RESERVED.includes(name))
  return names.sort(new Intl.Collator('en', { numeric: true }).compare).flatMap((name) => {
    const origin: Origin = { kind: 'environment', source: name, line: null }
    const place = placesLike(name).find((known) => known.name === name)
    if (place === undefined) complainOfName(draft, name, origin)
    return place === undefined ? [] : { place, text: env[name] ?? '', origin }
  })
}

/** Puts the variables over what the file says. */
export function takeVariables(draft: Draft, variables: readonly Variable[]): void {
  for (const variable of variables) take(draft, variable)
}

function complainOfName(draft: Draft, name: string, origin: Origin): void {
  const meant = meantBy(name)
  const advice =
    meant === null
      ? 'Unset it; `windfall init` writes down every setting there is.'
      : `Did you mean ${meant}?`
  draft.complain([], 'unknown variable', advice, origin)
}

/** With the name of a section in front one of its settings is meant; otherwise any, whose section may have been left out. */
function meantBy(name: string): string | null {
  const places = placesLike(name)
  const within = places.filter(({ path }) => path.length > 1 && name.startsWith(inSection(path)))
  const section = within[0]
  const keyOf = ({ path }: Place): string => String(path.at(-1))
  if (section !== undefined) {
    return nearest(name.slice(inSection(section.path).length), within, keyOf)?.name ?? null
  }
  const tail = name.slice(PREFIX.length)
  const reserved = nearest(tail, RESERVED, (known) => known.slice(PREFIX.length))
  return (
    reserved ??
    (nearest(tail, places, (place) => place.name.slice(PREFIX.length)) ?? nearest(tail, places, keyOf))
      ?.name ??
    null
  )
}

/** How the variables begin that stand beside this one: WINDFALL_SERVER_ */
const inSection = (path: Path): string => `${variableName(path.slice(0, -1))}_`

function take(draft: Draft, { place, text, origin }: Variable): void {
  if (!place.is_list && text === '') {
    draft.complain(place.path, 'is empty', 'Unset it to have the default, or give it a value.', origin)
    return
  }
  if (!hasRoomFor(draft, place, origin)) return
  const value = valueFrom(place, text)
  if (value === undefined) {
    draft.complain(place.path, 'cannot be read as a TOML list', listAdvice(place), origin)
    return
  }
  yieldTwin(draft, place.path)
  draft.set(place.path, value, origin)
}

/** An entry may be changed or be the next one; a hole before it could not be filled. */
function hasRoomFor(draft: Draft, { path }: Place, origin: Origin): boolean {
  const [name = '', index, key = ''] = path
  const list = draft.values[name]
  if (typeof index !== 'number') return true
  const length = Array.isArray(list) ? list.length : 0
  if (index <= length) return true
  const advice = `Entries count from 0 without a gap: write ${variableName([name, length, key])}.`
  draft.complain(path, `there is no ${name}[${index - 1}] before it`, advice, origin)
  return false
}

/** A secret and the file that holds it say the same thing: where the environment has one, the file's other one yields. */
function yieldTwin(draft: Draft, path: Path): void {
  const key = String(path.at(-1))
  const above = path.slice(0, -1)
  const twin = [...above, key.endsWith('_file') ? key.slice(0, -'_file'.length) : `${key}_file`]
  const is_secret = settingAt(path)?.secret || settingAt(twin)?.secret
  if (is_secret && draft.has(twin) && draft.originOf(twin).kind === 'file') draft.remove(twin)
}

/** The text as TOML would have it: what is no number where one is wanted stays a text, to be complained of as such. */
function valueFrom({ path, is_list }: Place, text: string): unknown {
  if (is_list && (text.trimStart().startsWith('[') || settingAt(path) === null)) return listOf(text)
  if (is_list) return text.split(',').flatMap((item) => item.trim() || [])
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
const FIRSTS: Readonly<Record<string, string>> = {
  accounts: 'vendor_numbers = ["80012345"]',
  apps: 'bundle_id = "com.example.app"',
}

function listAdvice({ name, path }: Place): string {
  if (settingAt(path) !== null) return `Write items between commas, or a TOML array: ${name}=["a", "b"].`
  const first = FIRSTS[String(path[0])] ?? 'slug = "acme"'
  return `Write an array of inline tables: ${name}=[{ ${first} }].`
}
