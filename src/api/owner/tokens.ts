/** What may be asked: read tokens, made and revoked by the owner. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import { reachWished, WISHED, Wish } from '../../access/grants.ts'
import type { ApiTokens } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { OWNERS } from '../route_defaults.ts'

const TokenWish = v.strictObject(Wish)
export const TokenAnswer = v.object({
  ...WISHED,
  hint: v.pipe(v.string(), v.description('Its last four characters')),
  used_at: v.pipe(v.nullable(v.number()), v.description('When it was used, to within five minutes')),
})
export const TokensAnswer = v.object({ tokens: v.array(TokenAnswer) })
const MadeAnswer = v.object({
  ...TokenAnswer.entries,
  token: v.pipe(v.string(), v.description('The token itself, shown this once')),
})

type Deps = {
  clock: Clock
  organizations: Organizations
  apps: Apps
  tokens: ApiTokens
  readers: Readers
  audit: Audit
}

export function tokenRoutes(deps: Deps): Route[] {
  const { tokens, readers, audit } = deps

  return [
    defineRoute({
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/tokens',
      summary: 'The read tokens, ended ones too, newest first; not their text',
      access: readers.owner,
      answers: { 200: { description: 'All of them', schema: TokensAnswer } },
      handler: () => ({ tokens: tokens.list().toReversed() }),
    }),
    defineRoute({
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/tokens',
      summary: 'Makes a read token for a program',
      access: readers.freshOwner,
      body: TokenWish,
      answers: { 201: { description: 'The token, shown this once', schema: MadeAnswer } },
      refusals: { 404: 'unknown_app, unknown_organization' },
      async handler({ event, body }) {
        const reach = reachWished(deps, body)
        event.res.status = 201
        return readers.commitAs(event, readers.freshOwner, (who) => {
          const made = tokens.create(body.label, reach, body.expires_at)
          audit.note({ ...who, action: 'token.made', subject: made.id, detail: made.label })
          return made
        })
      },
    }),
    defineRoute({
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/tokens/:id',
      summary: 'Ends a token at once',
      access: readers.owner,
      answers: { 204: { description: 'It is over' } },
      refusals: { 404: 'unknown_token' },
      async handler({ event, params: { id } }) {
        await readers.commitAs(event, readers.owner, (who) => {
          const { label } = tokens.revoke(id)
          audit.note({ ...who, action: 'token.revoked', subject: id, detail: label })
        })
      },
    }),
  ]
}
