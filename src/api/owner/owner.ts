/** What may be asked: by the owner alone: where they are signed in, and what was done. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { Sessions } from '../../access/sessions.ts'
import { Refusal } from '../../errors.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import { OWNER_REFUSED, OWNERS } from '../route_defaults.ts'

export const SessionsAnswer = v.object({
  sessions: v.array(
    v.object({
      id: v.string(),
      created_at: v.number(),
      seen_at: v.pipe(v.number(), v.description('When it was used, to within five minutes')),
      expires_at: v.number(),
      address: v.pipe(v.string(), v.description('From where it began')),
      user_agent: v.string(),
      current: v.boolean(),
    }),
  ),
})
const AuditQuery = v.object({
  before: v.optional(v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('Those before this id'))),
  limit: v.optional(v.pipe(whole(1, 500), v.description('How many at most, 1 to 500')), '100'),
})
export const AuditAnswer = v.object({
  entries: v.array(
    v.object({
      id: v.number(),
      at: v.number(),
      actor: v.pipe(
        v.string(),
        v.description('owner, command line, somebody, or the id of a token, a share link or a key'),
      ),
      address: v.nullable(v.string()),
      action: v.string(),
      subject: v.pipe(v.nullable(v.string()), v.description('To what it was done')),
      detail: v.nullable(v.string()),
    }),
  ),
  next: v.pipe(v.nullable(v.number()), v.description('`before` of the next page; null at the beginning')),
})

type Deps = { sessions: Sessions; audit: Audit; readers: Readers }

export function ownerRoutes({ sessions, audit, readers }: Deps): Route[] {
  function list(event: H3Event): v.InferOutput<typeof SessionsAnswer> {
    const { id: own } = readers.owner(event)
    const told = sessions.list().map((session) => {
      const { id, created_at, seen_at, address, user_agent } = session
      const current = id === own
      return { id, created_at, seen_at, expires_at: sessions.overAt(session), address, user_agent, current }
    })
    return { sessions: told }
  }

  async function end(event: H3Event) {
    readers.owner(event)
    const id = event.context.params?.id ?? ''
    if (!sessions.list().some((session) => session.id === id))
      throw new Refusal(404, 'unknown_session', `there is no session ${id.slice(0, 40)}, or it is over`)
    await readers.commitAs(event, readers.owner, (who) => {
      sessions.end(id)
      audit.note({ ...who, action: 'session.ended', subject: id })
    })
  }

  async function endOthers(event: H3Event) {
    const { id } = readers.owner(event)
    const ended = await readers.commitAs(event, readers.owner, (who) => {
      const count = sessions.endOwners(id)
      audit.note({ ...who, action: 'sessions.ended', detail: `${count} others` })
      return count
    })
    return { ended }
  }

  function log(event: H3Event): v.InferOutput<typeof AuditAnswer> {
    readers.owner(event)
    const { before, limit } = parse(AuditQuery, Object.fromEntries(event.url.searchParams))
    const entries = audit.list(before ?? null, limit)
    return { entries, next: entries.length < limit ? null : (entries.at(-1)?.id ?? null) }
  }

  return routesFor({ list, end, endOthers, log })
}

type Handlers = Record<'list' | 'end' | 'endOthers' | 'log', Route['handler']>

function routesFor({ list, end, endOthers, log }: Handlers): Route[] {
  return [
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/sessions',
      summary: 'Where the owner is signed in',
      answers: { 200: { description: 'The one used last first', schema: SessionsAnswer }, ...OWNER_REFUSED },
      handler: list,
    },
    {
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/sessions',
      summary: 'Ends all of the owner’s sessions but the one that asks',
      answers: {
        200: { description: 'How many', schema: v.object({ ended: v.number() }) },
        ...OWNER_REFUSED,
      },
      handler: endOthers,
    },
    {
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/sessions/:id',
      summary: 'Ends one of the owner’s sessions',
      answers: {
        204: { description: 'It is over' },
        ...OWNER_REFUSED,
        404: { description: 'unknown_session' },
      },
      handler: end,
    },
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/audit',
      summary: 'Who did what, or tried to, newest first',
      query: AuditQuery,
      answers: {
        200: { description: 'A page of it', schema: AuditAnswer },
        400: { description: 'invalid_request' },
        ...OWNER_REFUSED,
      },
      handler: log,
    },
  ]
}
