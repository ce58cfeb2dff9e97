/** Validates the raw configuration and turns schema errors into issues. */
import * as v from 'valibot'
import type { RawConfig, ValueOrigin } from '../raw_config.ts'
import { exampleOf, isTable, type Setting, shapeOf } from '../setting.ts'
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
 * Validates every value and adds an issue for each invalid one.
 *
 * @returns `parsed`, the configuration with defaults filled in, or null if a value is invalid; and `partial`, as much
 *   as could be parsed, for checks that read several values.
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
  else if (section !== null) raw.addIssue(path, problem, formOf(section))
}

/** Replaces valibot's messages about types, which are for programmers. Messages about content are in values.ts. */
function problemOf(issue: v.BaseIssue<unknown>, setting: Setting | null): string {
  const { input } = issue
  if (input === undefined) return 'is missing'
  const isOwnMessage = issue.kind === 'validation' || (issue.type === 'picklist' && typeof input === 'string')
  const isShown = !setting?.secret && !isSecret(input)
  if (!isOwnMessage) return `is ${kindOf(input, isShown)}`
  return `${isShown ? quoted(input) : 'the value'} ${issue.message}`
}

const quoted = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value))

/**
 * Whether a value contains a secret key, a signing secret, a private key or a URL with a password. Any setting can contain one by
 * mistake.
 */
const isSecret = (value: unknown): boolean =>
  typeof value === 'string' && /sk_live_|whsec_|PRIVATE KEY|\/\/.*@/.test(value)

function kindOf(value: unknown, isShown: boolean): string {
  if (Array.isArray(value)) return 'a list'
  if (isTable(value)) return 'a table'
  if (value instanceof Date) return 'a date'
  const kind = typeof value === 'string' ? 'text' : typeof value
  return isShown ? `the ${kind} ${quoted(value)}` : `a ${kind}`
}

/** Shows the example in the syntax of the value's source: TOML or an environment variable. */
function adviceFor(setting: Setting, path: Path, origin: ValueOrigin): string {
  const key = settingPath(path)
  const example = exampleOf(setting)
  const isWithinList = key.length > 1 && origin.source === variableName(key.slice(0, 1))
  const line =
    origin.kind === 'environment' && !isWithinList
      ? `${variableName(key)}=${shapeOf(setting) === 'table' ? `'${example}'` : example.replaceAll(/["[\]]/g, '').replaceAll(', ', ',')}`
      : `${key.at(-1)} = ${example}`
  return `Write ${setting.write}, such as ${line}`
}

/** The path without the indexes inside a setting's list. */
const settingPath = (path: Path): Path =>
  path.slice(0, path.findLastIndex((key) => typeof key === 'string') + 1)

function formOf(section: Section): string {
  return section.list
    ? `Write ${heading(section)}, in double brackets, once for each entry, with its settings below it.`
    : `Write ${heading(section)} once, in single brackets, with its settings below it.`
}
