/** Control verbs for access: the owner's setup link and read tokens. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import { MAX_VALIDITY_MS, VALIDITY_ERROR } from '../access/grants.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Windfall } from '../app.ts'
import type { App } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import { type Verbs, verb } from './socket.ts'

const text = v.pipe(v.string(), v.nonEmpty())
const CreateToken = v.object({
  organization: v.optional(v.nullable(v.string()), null),
  apps: v.optional(v.nullable(v.array(text)), null),
  label: text,
  can_annotate: v.optional(v.boolean(), false),
  valid_ms: v.optional(
    v.nullable(v.pipe(v.number(), v.minValue(1), v.maxValue(MAX_VALIDITY_MS, VALIDITY_ERROR))),
    null,
  ),
})

/** The URL at which the owner chooses a password. `windfall owner reset` and the first start print it. */
export const setupUrl = ({ http }: Pick<Windfall, 'http'>, token: string): string =>
  `${http.baseUrl() ?? 'http://127.0.0.1:8787'}/setup#${token}`

/** The verbs `owner.*` and `tokens.*`. */
export function ownerVerbs(windfall: Windfall): Verbs {
  const { store, owner, sessions, audit } = windfall

  async function reset() {
    const { token, expires_at } = await store.commit(() => {
      sessions.endAll()
      audit.note({ ...COMMAND_LINE, action: 'owner.reset' })
      return owner.reset()
    })
    return { url: setupUrl(windfall, token), expires_at }
  }

  return { 'owner.reset': verb(v.object({}), reset), ...tokenVerbs(windfall) }
}

function tokenVerbs({ store, clock, apps, tokens, organizations, audit }: Windfall): Verbs {
  function resolveScope({ organization, apps: names }: v.InferOutput<typeof CreateToken>) {
    if (organization === null && names === null) return { organization_id: null, apps: null }
    const { id } = organizations.resolve(organization)
    return { organization_id: id, apps: names?.map((name) => requireApp(id, name).id) ?? null }
  }

  /** Adds `reads`: the token's access scope as text, such as “everything” or “com.example.app of default”. */
  function withReadableScope<Token extends AccessScope>(token: Token): Token & { reads: string } {
    const names = token.apps?.map((id) => apps.get(id)?.bundle_id ?? id).join(', ')
    const slug = token.organization_id && organizations.get(token.organization_id)?.slug
    if (slug === null) return { ...token, reads: names ?? 'everything' }
    return { ...token, reads: names === undefined ? `all of ${slug}` : `${names} of ${slug}` }
  }

  async function createToken(request: v.InferOutput<typeof CreateToken>) {
    const expires_at = request.valid_ms === null ? null : clock() + request.valid_ms
    const token = await store.commit(() => {
      const created = tokens.create(request.label, resolveScope(request), { ...request, expires_at })
      audit.note({ ...COMMAND_LINE, action: 'token.made', subject: created.id, detail: created.label })
      return created
    })
    return withReadableScope(token)
  }

  function requireApp(organization_id: string, bundle_id: string): App {
    const app = apps
      .list()
      .find((one) => one.organization_id === organization_id && one.bundle_id === bundle_id)
    if (!app) throw new Refusal(404, 'unknown_app', `${bundle_id} is not connected`)
    return app
  }

  const revoke = (id: string) =>
    store.commit(() => {
      audit.note({ ...COMMAND_LINE, action: 'token.revoked', subject: id })
      return tokens.revoke(id)
    })

  return {
    'tokens.create': verb(CreateToken, createToken),
    'tokens.list': verb(v.object({}), () => tokens.list().map(withReadableScope)),
    'tokens.revoke': verb(v.object({ id: text }), ({ id }) => revoke(id)),
  }
}
