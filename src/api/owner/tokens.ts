/** What may be asked: read tokens, made and revoked by the owner. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import { reachWished, WISHED, Wish } from '../../access/grants.ts'
import type { ApiTokens } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { readJson } from '../../http/body/body.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import { OWNER_REFUSED, OWNERS, SECRETS_REFUSED } from '../route_defaults.ts'
import { BODY_BYTES } from './sign_in.ts'

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

  function list(event: H3Event) {
    readers.owner(event)
    return { tokens: tokens.list().toReversed() }
  }

  async function create(event: H3Event) {
    readers.freshOwner(event)
    const wish = parse(TokenWish, await readJson(event, BODY_BYTES))
    const reach = reachWished(deps, wish)
    event.res.status = 201
    return readers.commitAs(event, readers.freshOwner, (who) => {
      const made = tokens.create(wish.label, reach, wish.expires_at)
      audit.note({ ...who, action: 'token.made', subject: made.id, detail: made.label })
      return made
    })
  }

  async function revoke(event: H3Event) {
    readers.owner(event)
    const id = event.context.params?.id ?? ''
    await readers.commitAs(event, readers.owner, (who) => {
      const { label } = tokens.revoke(id)
      audit.note({ ...who, action: 'token.revoked', subject: id, detail: label })
    })
  }

  return routesFor({ list, create, revoke })
}

type Handlers = Record<'list' | 'create' | 'revoke', Route['handler']>

function routesFor({ list, create, revoke }: Handlers): Route[] {
  return [
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/tokens',
      summary: 'The read tokens, ended ones too, newest first; not their text',
      answers: { 200: { description: 'All of them', schema: TokensAnswer }, ...OWNER_REFUSED },
      handler: list,
    },
    {
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/tokens',
      summary: 'Makes a read token for a program',
      body: TokenWish,
      answers: { 201: { description: 'The token, shown this once', schema: MadeAnswer }, ...SECRETS_REFUSED },
      handler: create,
    },
    {
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/tokens/:id',
      summary: 'Ends a token at once',
      answers: {
        204: { description: 'It is over' },
        ...OWNER_REFUSED,
        404: { description: 'unknown_token' },
      },
      handler: revoke,
    },
  ]
}
