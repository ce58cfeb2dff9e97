/** Checks the channels and rules that config.toml declares: their kinds, templates and settings. */
import * as v from 'valibot'
import { pathText } from '../../config/checks/issues.ts'
import { closestMatch } from '../../config/checks/suggest.ts'
import type { Config } from '../../config/settings.ts'
import type { FieldError } from '../../errors.ts'
import { findKind, KIND_NAMES } from '../channels/kinds.ts'
import { type RuleSettings, SomeRuleSettings, TEMPLATES, type TemplateName } from '../rules/templates.ts'

type AlertConfig = Pick<Config, 'alert_channels' | 'alert_rules'>

/** A declared channel whose settings its kind accepts. `organization` is a slug. */
export type DeclaredChannel = {
  organization: string
  name: string
  kind: string
  settings: Record<string, unknown>
  secrets: object
  hides_amounts: boolean
  digests: readonly ('daily' | 'weekly')[]
}

/** A declared rule whose settings its template accepts. `channels` are names, and `settings.apps` bundle ids. */
export type DeclaredRule = {
  organization: string
  name: string
  template: TemplateName
  settings: Partial<RuleSettings>
  channels: readonly string[] | null
  on: boolean
}

/** What is wrong, at which path of the configuration, and what to write instead. No secret is quoted. */
type DeclaredIssue = { path: string; problem: string; advice: string }

/** The declared channels and rules, which `declaredIssues` accepts. */
export function readDeclared(config: AlertConfig) {
  const channels = config.alert_channels.map((channel): DeclaredChannel => {
    const kind = findKind(channel.kind)
    return {
      ...channel,
      settings: v.parse(kind?.settings ?? v.never(), channel.settings),
      secrets: v.parse(kind?.secrets ?? v.never(), channel.secrets),
    }
  })
  const rules = config.alert_rules.map(
    (rule): DeclaredRule => ({
      ...rule,
      template: rule.template as TemplateName,
      settings: v.parse(SomeRuleSettings, rule.settings),
    }),
  )
  return { channels, rules }
}

/** Every issue of the declared channels and rules, in the order of the file. */
export const declaredIssues = ({ alert_channels, alert_rules }: AlertConfig): DeclaredIssue[] => [
  ...alert_channels.flatMap((channel, index) => channelIssues(channel, ['alert_channels', index])),
  ...alert_rules.flatMap((rule, index) => [
    ...ruleIssues(rule, ['alert_rules', index]),
    ...unknownChannels(rule, alert_channels, ['alert_rules', index]),
  ]),
]

type Above = readonly (string | number)[]

function channelIssues(channel: AlertConfig['alert_channels'][number], above: Above): DeclaredIssue[] {
  const kind = findKind(channel.kind)
  if (kind === null || !KIND_NAMES.includes(channel.kind))
    return [unknownWord(channel.kind, KIND_NAMES, [...above, 'kind'])]
  const issues = [
    ...issuesOf(kind.settings, channel.settings, [...above, 'settings']),
    ...issuesOf(kind.secrets, channel.secrets, [...above, 'secrets']),
  ]
  if (issues.length > 0) return issues
  const conflict = kind.conflictOf?.(
    v.parse(kind.settings, channel.settings),
    v.parse(kind.secrets, channel.secrets),
  )
  return conflict ? [issueOf(conflict, above)] : []
}

function ruleIssues(
  { template, settings }: AlertConfig['alert_rules'][number],
  above: Above,
): DeclaredIssue[] {
  const names = TEMPLATES.map(({ name }) => name)
  const isKnown = names.some((name) => name === template)
  return [
    ...(isKnown ? [] : [unknownWord(template, names, [...above, 'template'])]),
    ...issuesOf(SomeRuleSettings, settings, [...above, 'settings']),
  ]
}

function unknownChannels(
  { channels, organization }: AlertConfig['alert_rules'][number],
  declared: AlertConfig['alert_channels'],
  above: Above,
): DeclaredIssue[] {
  const names = declared.filter((one) => one.organization === organization).map(({ name }) => name)
  return (channels ?? []).flatMap((channel, at) =>
    names.includes(channel) ? [] : [unknownWord(channel, names, [...above, 'channels', at])],
  )
}

function unknownWord(word: string, known: readonly string[], path: Above): DeclaredIssue {
  const suggestion = closestMatch(word, known, (one) => one)
  const list = known.length === 0 ? 'Add [[alert_channels]].' : `Write ${known.join(', ')}.`
  const advice = suggestion === null ? list : `Did you mean "${suggestion}"?`
  return { path: pathText(path), problem: `"${word}" is not known`, advice }
}

function issuesOf(schema: v.GenericSchema, value: unknown, above: Above): DeclaredIssue[] {
  const { issues = [] } = v.safeParse(schema, value, { abortPipeEarly: true })
  return issues.map((issue) => {
    const keys = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
    const path = pathText([...above, ...keys])
    if (issue.type === 'strict_object' && issue.expected === 'never')
      return { path, ...unknownField(String(keys.at(-1)), keys.length === 1 ? fieldsOf(schema) : []) }
    return { path, problem: problemOf(issue), advice: ADVICE }
  })
}

const ADVICE = 'docs/alerts.md lists the fields.'

const fieldsOf = (schema: v.GenericSchema): string[] =>
  'entries' in schema ? Object.keys(schema.entries as object) : []

function unknownField(key: string, fields: readonly string[]): Omit<DeclaredIssue, 'path'> {
  const suggestion = closestMatch(key, fields, (one) => one)
  const hint = suggestion === null ? 'Remove it.' : `Did you mean ${suggestion}?`
  const list = fields.length === 0 ? ADVICE : `The fields are ${fields.join(', ')}.`
  return { problem: 'is not one of its fields', advice: `${hint} ${list}` }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a table',
}

/** What is wrong with a field, in place of the words of the validator, which are for programmers. */
function problemOf({ input, kind, type, expected, message }: v.BaseIssue<unknown>): string {
  if (input === undefined) return 'is required'
  if (!message.startsWith('Invalid')) return message
  if (type === 'picklist')
    return `must be ${String(expected)
      .replace(/^\(|\)$/g, '')
      .replaceAll(' | ', ' or ')}`
  if (kind === 'schema') return `must be ${TYPES[expected ?? ''] ?? 'of another type'}`
  if (type === 'integer') return 'must be a whole number'
  const bound = /^(>=|<=)(\S+)$/.exec(expected ?? '')
  if (bound) return `must be ${bound[1] === '>=' ? 'at least' : 'at most'} ${bound[2]}${BOUNDED[type] ?? ''}`
  return 'is not valid'
}

/** What a bound of a length counts. */
const BOUNDED: Readonly<Record<string, string>> = { min_length: ' long', max_length: ' long' }

const issueOf = ({ path, message }: FieldError, above: Above): DeclaredIssue => ({
  path: path === '' ? pathText(above) : `${pathText(above)}.${path}`,
  problem: message,
  advice: ADVICE,
})
