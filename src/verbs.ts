/** What a person may tell a running Windfall from the command line: each verb checked, each write one unit of work. */
import { resolve } from 'node:path'
import * as v from 'valibot'
import type { Windfall } from './app.ts'
import type { App } from './apps/apps.ts'
import { type Verbs, verb } from './control.ts'
import type { Reach } from './dashboard/tokens.ts'
import { Refusal } from './errors.ts'

const slug = v.optional(v.nullable(v.string()), null)
const text = v.pipe(v.string(), v.nonEmpty())
const said = v.optional(text)

const AddApp = v.object({
  organization: slug,
  bundle_id: v.pipe(text, v.regex(/^[A-Za-z0-9.-]+$/, 'a bundle id has letters, digits, dots and hyphens')),
  name: said,
  apple_id: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  team_id: v.optional(v.pipe(text, v.regex(/^[A-Z0-9]{10}$/, 'a team id is ten capital letters and digits'))),
  android_package: said,
  sku: said,
})
const NamedApp = v.object({ organization: slug, bundle_id: text })
const CreateKey = v.object({ organization: slug, kind: v.picklist(['publishable', 'secret']), label: text })
const RotateKey = v.object({ id: text, overlap_ms: v.pipe(v.number(), v.minValue(0)) })
const ById = v.object({ id: text })
const NumberedRefused = v.object({ id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) })
const CreateToken = v.object({
  organization: slug,
  apps: v.optional(v.nullable(v.array(text)), null),
  label: text,
  valid_ms: v.optional(v.nullable(v.pipe(v.number(), v.minValue(1))), null),
})

/** What the verbs are; the names are what travels over the control socket. */
export function verbsOf(windfall: Windfall): Verbs {
  const { store, apps, keys, organizations, arrivals } = windfall

  async function addApp({ organization, ...declaration }: v.InferOutput<typeof AddApp>) {
    const { id, slug: name } = organizations.meant(organization)
    const app = await store.commit(() => apps.add(id, declaration, 'command line'))
    return { app, organization: name, applied: await arrivals.applyPending() }
  }

  const listed = () =>
    organizations.list().map((organization) => ({
      ...organization,
      apps: apps.list().filter((app) => app.organization_id === organization.id),
    }))

  return {
    'apps.add': verb(AddApp, addApp),
    'apps.remove': verb(NamedApp, ({ organization, bundle_id }) =>
      store.commit(() => apps.remove(organizations.meant(organization).id, bundle_id)),
    ),
    'apps.list': verb(v.object({}), () => ({ organizations: listed(), pending: arrivals.pending.list() })),
    'keys.create': verb(CreateKey, ({ organization, kind, label }) =>
      store.commit(() => keys.create(organizations.meant(organization).id, kind, label)),
    ),
    'keys.list': verb(v.object({ organization: slug }), ({ organization }) => ({
      organizations: organizations.list(),
      keys: keys.list(organization === null ? null : organizations.meant(organization).id),
    })),
    'keys.rotate': verb(RotateKey, ({ id, overlap_ms }) => store.commit(() => keys.rotate(id, overlap_ms))),
    'keys.revoke': verb(ById, ({ id }) => store.commit(() => keys.revoke(id))),
    ...tokenVerbs(windfall),
    ...refusedVerbs(windfall),
    backup: verb(v.object({ destination: text }), ({ destination }) => store.backup(resolve(destination))),
  }
}

function tokenVerbs({ store, clock, apps, tokens, organizations }: Windfall): Verbs {
  function reachNamed({ organization, apps: names }: v.InferOutput<typeof CreateToken>) {
    if (organization === null && names === null) return { organization_id: null, apps: null }
    const { id } = organizations.meant(organization)
    return { organization_id: id, apps: names?.map((name) => appNamed(id, name).id) ?? null }
  }

  /** The same token with what it reads in words: an organization's slug, bundle ids, or everything there is. */
  function inWords<Token extends Reach>(token: Token): Token & { reads: string } {
    const names = token.apps?.map((id) => apps.get(id)?.bundle_id ?? id).join(', ')
    const slug = token.organization_id && organizations.get(token.organization_id)?.slug
    if (slug === null) return { ...token, reads: names ?? 'everything' }
    return { ...token, reads: names === undefined ? `all of ${slug}` : `${names} of ${slug}` }
  }

  async function createToken(asked: v.InferOutput<typeof CreateToken>) {
    const expires_at = asked.valid_ms === null ? null : clock() + asked.valid_ms
    return inWords(await store.commit(() => tokens.create(asked.label, reachNamed(asked), expires_at)))
  }

  function appNamed(organization_id: string, bundle_id: string): App {
    const app = apps
      .list()
      .find((one) => one.organization_id === organization_id && one.bundle_id === bundle_id)
    if (!app) throw new Refusal(404, 'unknown_app', `${bundle_id} is not connected`)
    return app
  }

  return {
    'tokens.create': verb(CreateToken, createToken),
    'tokens.list': verb(v.object({}), () => tokens.list().map(inWords)),
    'tokens.revoke': verb(ById, ({ id }) => store.commit(() => tokens.revoke(id))),
  }
}

function refusedVerbs({ arrivals: { refused } }: Windfall): Verbs {
  function refusedRaw({ id }: v.InferOutput<typeof NumberedRefused>) {
    const raw = refused.raw(id)
    if (raw !== null) return { id, raw }
    throw new Refusal(
      404,
      'unknown_refused',
      `nothing refused is kept as ${id}; windfall refused list shows them`,
    )
  }

  return {
    'refused.list': verb(v.object({}), () => ({ count: refused.count(), kept: refused.list() })),
    'refused.raw': verb(NumberedRefused, refusedRaw),
  }
}
