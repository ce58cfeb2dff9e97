/** What we compute: values that the schema refuses, told to a person. */
import * as v from 'valibot'
import type { RawConfig, ValueOrigin } from '../raw_config.ts'
import { exampleOf, isTable, type Setting } from '../setting.ts'
import {
  heading,
  type ParsedConfig,
  type Section,
  Settings,
  sectionAt,
  settingAt,
  variableName,
} from '../settings.ts'
import type { Path } from './issues.ts'

/**
 * Checks every value of the draft and complains of those that cannot be.
 *
 * @returns what was written with the defaults filled in, or null when something was refused; and in any case all
 *   that could be made of it, for checks that look at several values.
 */
export function parseConfig(raw: RawConfig): { parsed: ParsedConfig | null; partial: unknown } {
  const result = v.safeParse(Settings, raw.values, { abortPipeEarly: true })
  for (const issue of result.issues ?? []) reportIssue(raw, issue)
  return { parsed: result.success ? result.output : null, partial: result.output }
}

function reportIssue(raw: RawConfig, issue: v.BaseIssue<unknown>): void {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const setting = settingAt(path)
  const section = sectionAt(path)
  const problem = problemOf(issue, setting)
  if (setting !== null) raw.addIssue(path, problem, adviceFor(setting, path, raw.originOf(path)))
  else if (section !== null) raw.addIssue(path, problem, shapeOf(section))
}

/** Issues of a value's type carry valibot's words, which speak to programmers; those of its content carry ours. */
function problemOf(issue: v.BaseIssue<unknown>, setting: Setting | null): string {
  const { input } = issue
  if (input === undefined) return 'is missing'
  const isOurMessage = issue.kind === 'validation' || (issue.type === 'picklist' && typeof input === 'string')
  const isShown = !setting?.secret && !isSecret(input)
  if (!isOurMessage) return `is ${kindOf(input, isShown)}`
  return `${isShown ? quoted(input) : 'what stands there'} ${issue.message}`
}

const quoted = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value))

/** A secret key, or an address with a password in it, also where none belongs. */
const isSecret = (value: unknown): boolean =>
  typeof value === 'string' && /sk_live_|PRIVATE KEY|\/\/.*@/.test(value)

function kindOf(value: unknown, isShown: boolean): string {
  if (Array.isArray(value)) return 'a list'
  if (isTable(value)) return 'a table'
  if (value instanceof Date) return 'a date'
  const kind = typeof value === 'string' ? 'text' : typeof value
  return isShown ? `the ${kind} ${quoted(value)}` : `a ${kind}`
}

/** An example in the tongue of whoever wrote the value: the file's or the environment's. */
function adviceFor(setting: Setting, path: Path, origin: ValueOrigin): string {
  const key = settingPath(path)
  const example = exampleOf(setting)
  const isWithinList = key.length > 1 && origin.source === variableName(key.slice(0, 1))
  const line =
    origin.kind === 'environment' && !isWithinList
      ? `${variableName(key)}=${example.replaceAll(/["[\]]/g, '').replaceAll(', ', ',')}`
      : `${key.at(-1)} = ${example}`
  return `Write ${setting.write}, such as ${line}`
}

/** The path without the positions inside a setting's own list. */
const settingPath = (path: Path): Path =>
  path.slice(0, path.findLastIndex((key) => typeof key === 'string') + 1)

function shapeOf(section: Section): string {
  return section.list
    ? `Write ${heading(section)}, in double brackets, once for each, and its settings below it.`
    : `Write ${heading(section)} once, in single brackets, and its settings below it.`
}
