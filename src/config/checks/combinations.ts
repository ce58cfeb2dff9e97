/** What we compute: settings that are right by themselves and impossible together. */
import * as v from 'valibot'
import type { Draft, Origin } from '../raw_config.ts'
import { type Path, pathText } from './issues.ts'
import { checkKeys } from './key_combinations.ts'
import { nearest } from './suggest.ts'

const text = v.fallback(v.nullish(v.string(), null), null)
const count = v.fallback(v.nullish(v.number(), null), null)
const list = <S extends v.GenericSchema>(item: S) => v.fallback(v.array(item), [])

/** What can be made out of settings that may be wrong elsewhere: null is unknown, so that one fault does not hide another. */
const Legible = v.object({
  server: v.fallback(v.object({ headers_timeout_seconds: count, request_timeout_seconds: count }), {
    headers_timeout_seconds: null,
    request_timeout_seconds: null,
  }),
  organizations: list(
    v.fallback(v.object({ slug: text, sdk_auth: text, publishable_key: text, secret_key: text }), {
      slug: null,
      sdk_auth: null,
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
})

type Legible = v.InferOutput<typeof Legible>

/** Complains of what cannot be meant together. `partial` is the configuration as far as it could be read. */
export function findCombinations(draft: Draft, partial: unknown): void {
  const legible = v.parse(Legible, partial)
  checkTimeouts(draft, legible)
  checkRepeats(draft, legible)
  checkOwners(draft, 'apps', legible.apps, legible)
  checkOwners(draft, 'accounts', legible.accounts, legible)
  for (const index of legible.accounts.keys()) checkKeys(draft, ['accounts', index])
  checkAttestation(draft, legible)
}

function checkTimeouts(draft: Draft, { server }: Legible): void {
  const { headers_timeout_seconds: headers, request_timeout_seconds: request } = server
  if (headers === null || request === null || headers <= request) return
  const both: Path[] = [
    ['server', 'headers_timeout_seconds'],
    ['server', 'request_timeout_seconds'],
  ]
  const written = both.find((path) => draft.has(path)) ?? []
  const problem = `headers_timeout_seconds (${headers}) is more than request_timeout_seconds (${request})`
  draft.complain(
    written,
    problem,
    'A request includes its headers: write a time for them that is not longer.',
  )
}

/** Complains of each value that stands a second time, at its second place. */
function checkRepeats(draft: Draft, { organizations, accounts, apps }: Legible): void {
  const of = (key: 'slug' | 'publishable_key' | 'secret_key') =>
    organizations.map((organization, index) => ({
      path: ['organizations', index, key],
      value: organization[key],
    }))
  complainOfRepeats(draft, of('slug'), 'Write another slug, or keep one of the two.')
  const ownKey = 'Each organization has keys of its own, for a key says whose the call is.'
  complainOfRepeats(draft, of('publishable_key'), ownKey)
  complainOfRepeats(draft, of('secret_key'), ownKey)
  const owners = accounts.map((account, index) => ({
    path: ['accounts', index, 'organization'],
    value: ownerOf(account, organizations),
  }))
  complainOfRepeats(
    draft,
    owners,
    'An organization has one account: put all its keys and vendor numbers there.',
  )
  const vendors = accounts.flatMap(({ vendor_numbers }, index) =>
    vendor_numbers.map((value, at) => ({
      path: ['accounts', index, 'vendor_numbers', at],
      value,
      of: String(index),
    })),
  )
  complainOfRepeats(draft, vendors, 'Its reports are fetched once: take one of the two out.')
  for (const key of ['bundle_id', 'android_package'] as const) {
    const values = apps.map((app, index) => ({
      path: ['apps', index, key],
      value: app[key],
      of: ownerOf(app, organizations),
    }))
    complainOfRepeats(draft, values, 'An organization has an app once: take one of the two out.')
  }
}

const lineText = ({ line }: Origin): string => (line === null ? '' : ` in line ${line}`)

type Place = Readonly<{ path: Path; value: string | null; of?: string | null }>

/** Repeats count within `of`, where there is one; where it is unknown (null), nothing is a repeat. */
function complainOfRepeats(draft: Draft, places: readonly Place[], advice: string): void {
  const seen = new Map<string, Path>()
  for (const { path, value, of } of places) {
    if (value === null || of === null) continue
    const identity = JSON.stringify([of, value])
    const first = seen.get(identity)
    if (first === undefined) seen.set(identity, path)
    else draft.complain(path, `is the same as ${pathText(first)}${lineText(draft.originOf(first))}`, advice)
  }
}

/**
 * The slug of the organization that has an app: what it says, or the only one there is. null where that is open.
 */
export function ownerOf(
  app: Readonly<{ organization: string | null }>,
  organizations: readonly Readonly<{ slug: string | null }>[],
): string | null {
  if (app.organization !== null) return app.organization
  if (organizations.length === 0) return 'default'
  return organizations.length === 1 ? (organizations[0]?.slug ?? null) : null
}

type Owned = Readonly<{ organization: string | null }>

/** All belongs to a declared organization; to which one goes without saying only where there is no choice. */
function checkOwners(draft: Draft, list: string, owned: readonly Owned[], { organizations }: Legible): void {
  const slugs = [...new Set(organizations.flatMap(({ slug }) => slug ?? []))]
  const choice = slugs.map((slug) => `"${slug}"`).join(' or ')
  for (const [index, { organization }] of owned.entries()) {
    const path = [list, index, 'organization']
    if (organization === null) {
      const problem = `is missing, and ${organizations.length} organizations are declared`
      if (organizations.length > 1) draft.complain(path, problem, `Write organization = ${choice}`)
    } else if (organizations.length === 0 && organization !== 'default') {
      const advice = `Add [[organizations]] with slug = "${organization}", or leave organization out.`
      draft.complain(path, `"${organization}" is not declared`, advice)
    } else if (organizations.length > 0 && !slugs.includes(organization)) {
      const meant = nearest(organization, slugs, (slug) => slug)
      const advice = meant === null ? `Write organization = ${choice}` : `Did you mean "${meant}"?`
      draft.complain(path, `"${organization}" is not a declared organization`, advice)
    }
  }
}

/** Nothing can attest a device yet, so that an organization that requires it would refuse every client app. */
function checkAttestation(draft: Draft, { organizations }: Legible): void {
  for (const [index, { sdk_auth }] of organizations.entries()) {
    if (sdk_auth !== 'attestation') continue
    const problem = '"attestation" is not available yet, and would refuse every call of a client app'
    const advice = 'Write sdk_auth = "key" to require a key, or sdk_auth = "any" to require nothing.'
    draft.complain(['organizations', index, 'sdk_auth'], problem, advice)
  }
}
