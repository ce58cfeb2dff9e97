/** Checks settings that are valid on their own but contradict each other. */
import * as v from 'valibot'
import type { RawConfig, ValueOrigin } from '../raw_config.ts'
import { checkBackup } from './backup_combinations.ts'
import { checkEndpoint } from './endpoint_combinations.ts'
import { type Path, pathText } from './issues.ts'
import { checkKeys } from './key_combinations.ts'
import { closestMatch } from './suggest.ts'

const text = v.fallback(v.nullish(v.string(), null), null)
const count = v.fallback(v.nullish(v.number(), null), null)
const list = <S extends v.GenericSchema>(item: S) => v.fallback(v.array(item), [])

const named = v.fallback(v.object({ name: text, organization: text }), { name: null, organization: null })

/** The settings that the checks read. An invalid value is null (unknown), so one issue does not hide another. */
const PartialConfig = v.object({
  server: v.fallback(v.object({ headers_timeout_seconds: count, request_timeout_seconds: count }), {
    headers_timeout_seconds: null,
    request_timeout_seconds: null,
  }),
  organizations: list(
    v.fallback(v.object({ slug: text, publishable_key: text, secret_key: text }), {
      slug: null,
      publishable_key: null,
      secret_key: null,
    }),
  ),
  accounts: list(
    v.fallback(v.object({ organization: text, vendor_numbers: list(text) }), {
      organization: null,
      vendor_numbers: [],
    }),
  ),
  apps: list(
    v.fallback(v.object({ bundle_id: text, organization: text, android_package: text }), {
      bundle_id: null,
      organization: null,
      android_package: null,
    }),
  ),
  endpoints: list(named),
  alert_channels: list(named),
  alert_rules: list(named),
})

type PartialConfig = v.InferOutput<typeof PartialConfig>

/** Adds an issue for each contradiction. `partial` is the configuration as far as it could be parsed. */
export function checkCombinations(raw: RawConfig, partial: unknown): void {
  const config = v.parse(PartialConfig, partial)
  checkTimeouts(raw, config)
  checkBackup(raw)
  checkDuplicates(raw, config)
  checkOrganizations(raw, 'apps', config.apps, config)
  checkOrganizations(raw, 'accounts', config.accounts, config)
  for (const index of config.accounts.keys()) checkKeys(raw, ['accounts', index])
  checkOrganizations(raw, 'endpoints', config.endpoints, config)
  for (const index of config.endpoints.keys()) checkEndpoint(raw, ['endpoints', index])
  checkOrganizations(raw, 'alert_channels', config.alert_channels, config)
  checkOrganizations(raw, 'alert_rules', config.alert_rules, config)
}

function checkTimeouts(raw: RawConfig, { server }: PartialConfig): void {
  const { headers_timeout_seconds: headers, request_timeout_seconds: request } = server
  if (headers === null || request === null || headers <= request) return
  const both: Path[] = [
    ['server', 'headers_timeout_seconds'],
    ['server', 'request_timeout_seconds'],
  ]
  const written = both.find((path) => raw.has(path)) ?? []
  const problem = `headers_timeout_seconds (${headers}) is more than request_timeout_seconds (${request})`
  raw.addIssue(
    written,
    problem,
    'A request includes its headers: write a headers_timeout_seconds that is not longer.',
  )
}

/** Reports each duplicate value at its second occurrence. */
function checkDuplicates(raw: RawConfig, config: PartialConfig): void {
  const { organizations, accounts, apps } = config
  const valuesOf = (key: 'slug' | 'publishable_key' | 'secret_key') =>
    organizations.map((organization, index) => ({
      path: ['organizations', index, key],
      value: organization[key],
    }))
  reportDuplicates(raw, valuesOf('slug'), 'Write another slug, or keep one of the two.')
  const keyAdvice = 'A key identifies one organization: write a different key.'
  reportDuplicates(raw, valuesOf('publishable_key'), keyAdvice)
  reportDuplicates(raw, valuesOf('secret_key'), keyAdvice)
  const accountOrganizations = accounts.map((account, index) => ({
    path: ['accounts', index, 'organization'],
    value: organizationOf(account, organizations),
  }))
  reportDuplicates(
    raw,
    accountOrganizations,
    'An organization has one account: put all its keys and vendor numbers there.',
  )
  const vendors = accounts.flatMap(({ vendor_numbers }, index) =>
    vendor_numbers.map((value, at) => ({
      path: ['accounts', index, 'vendor_numbers', at],
      value,
      scope: String(index),
    })),
  )
  reportDuplicates(raw, vendors, 'Its reports are fetched once: remove one of the two.')
  for (const [section, what] of NAMED) {
    const names = config[section].map((entry, index) => ({
      path: [section, index, 'name'],
      value: entry.name,
      scope: organizationOf(entry, organizations),
    }))
    reportDuplicates(raw, names, `A name identifies one ${what}: write another name.`)
  }
  for (const key of ['bundle_id', 'android_package'] as const) {
    const values = apps.map((app, index) => ({
      path: ['apps', index, key],
      value: app[key],
      scope: organizationOf(app, organizations),
    }))
    reportDuplicates(raw, values, 'An organization has an app once: remove one of the two.')
  }
}

/** The sections whose entries are identified by their names. */
const NAMED = [
  ['endpoints', 'endpoint'],
  ['alert_channels', 'channel'],
  ['alert_rules', 'rule'],
] as const

const lineText = ({ line }: ValueOrigin): string => (line === null ? '' : ` in line ${line}`)

type ValueAt = Readonly<{ path: Path; value: string | null; scope?: string | null }>

/** Reports values that repeat within their `scope`. A value whose scope is unknown (null) is never a duplicate. */
function reportDuplicates(raw: RawConfig, values: readonly ValueAt[], advice: string): void {
  const seen = new Map<string, Path>()
  for (const { path, value, scope } of values) {
    if (value === null || scope === null) continue
    const identity = JSON.stringify([scope, value])
    const first = seen.get(identity)
    if (first === undefined) seen.set(identity, path)
    else raw.addIssue(path, `is the same as ${pathText(first)}${lineText(raw.originOf(first))}`, advice)
  }
}

/**
 * The slug of the organization that an app or account belongs to: the declared one, or the only one. Null if unknown.
 */
export function organizationOf(
  app: Readonly<{ organization: string | null }>,
  organizations: readonly Readonly<{ slug: string | null }>[],
): string | null {
  if (app.organization !== null) return app.organization
  if (organizations.length === 0) return 'default'
  return organizations.length === 1 ? (organizations[0]?.slug ?? null) : null
}

type HasOrganization = Readonly<{ organization: string | null }>

/** Each entry must belong to a declared organization. It may be left out only if there is one organization. */
function checkOrganizations(
  raw: RawConfig,
  list: string,
  entries: readonly HasOrganization[],
  { organizations }: PartialConfig,
): void {
  const slugs = [...new Set(organizations.flatMap(({ slug }) => slug ?? []))]
  const choice = slugs.map((slug) => `"${slug}"`).join(' or ')
  for (const [index, { organization }] of entries.entries()) {
    const path = [list, index, 'organization']
    if (organization === null) {
      const problem = `is missing, and ${organizations.length} organizations are declared`
      if (organizations.length > 1) raw.addIssue(path, problem, `Write organization = ${choice}`)
    } else if (organizations.length === 0 && organization !== 'default') {
      const advice = `Add [[organizations]] with slug = "${organization}", or leave organization out.`
      raw.addIssue(path, `"${organization}" is not declared`, advice)
    } else if (organizations.length > 0 && !slugs.includes(organization)) {
      const suggestion = closestMatch(organization, slugs, (slug) => slug)
      const advice = suggestion === null ? `Write organization = ${choice}` : `Did you mean "${suggestion}"?`
      raw.addIssue(path, `"${organization}" is not a declared organization`, advice)
    }
  }
}
