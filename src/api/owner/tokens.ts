/** `/api/v1/tokens`: read tokens, created and revoked by the owner. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { GRANT_FIELDS, GrantRequest, resolveGrant } from '../../access/grants.ts'
import type { ApiTokens } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const canAnnotate = v.pipe(v.boolean(), v.description('Whether the token may also write annotations'))
const CreateBody = v.strictObject({ ...GrantRequest, can_annotate: v.optional(canAnnotate, false) })
export const TokenAnswer = v.object({
  ...GRANT_FIELDS,
  can_annotate: canAnnotate,
  hint: v.pipe(v.string(), v.description('The last four characters of the token')),
  used_at: v.pipe(
    v.nullable(v.number()),
    v.description('When the token was last used, to within five minutes'),
  ),
})
export const TokensAnswer = v.object({ tokens: v.array(TokenAnswer) })
const CreatedAnswer = v.object({
  ...TokenAnswer.entries,
  token: v.pipe(v.string(), v.description('The token; shown only in this response')),
})

type Deps = {
  clock: Clock
  organizations: Organizations
  apps: Apps
  tokens: ApiTokens
  auth: Auth
  audit: Audit
}

export function tokenRoutes(deps: Deps): Route[] {
  const { tokens, auth, audit } = deps

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/tokens',
      summary: 'Lists read tokens, including ended ones, newest first, without their text',
      access: auth.owner,
      answer: { description: 'All read tokens', schema: TokensAnswer },
      read: () => ({ tokens: tokens.list().toReversed() }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/tokens',
      summary: 'Creates a read token',
      access: auth.freshOwner,
      body: CreateBody,
      answers: { 201: { description: 'The token, shown only in this response', schema: CreatedAnswer } },
      refusals: { 404: 'unknown_app, unknown_organization' },
      async handler({ event, body }) {
        const accessScope = resolveGrant(deps, body)
        event.res.status = 201
        return auth.commitAs(event, auth.freshOwner, (actor) => {
          const created = tokens.create(body.label, accessScope, body)
          audit.note({ ...actor, action: 'token.made', subject: created.id, detail: created.label })
          return created
        })
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/tokens/:id',
      summary: 'Revokes a token immediately',
      access: auth.owner,
      answers: { 204: { description: 'The token is revoked' } },
      refusals: { 404: 'unknown_token' },
      async handler({ event, params: { id } }) {
        await auth.commitAs(event, auth.owner, (actor) => {
          const { label } = tokens.revoke(id)
          audit.note({ ...actor, action: 'token.revoked', subject: id, detail: label })
        })
      },
    }),
  ]
}
