/** `/api/v1/sessions` and `/api/v1/audit`: the owner's sessions and the audit log. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { Sessions } from '../../access/sessions.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

export const SessionsAnswer = v.object({
  sessions: v.array(
    v.object({
      id: v.string(),
      created_at: v.number(),
      seen_at: v.pipe(v.number(), v.description('When the session was last used, to within five minutes')),
      expires_at: v.number(),
      address: v.pipe(v.string(), v.description('The address of the sign-in')),
      user_agent: v.string(),
      current: v.boolean(),
    }),
  ),
})
const AuditQuery = v.object({
  before: v.optional(v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('Only entries before this id'))),
  limit: v.optional(v.pipe(whole(1, 500), v.description('Page size, 1 to 500')), '100'),
})
export const AuditAnswer = v.object({
  entries: v.array(
    v.object({
      id: v.number(),
      at: v.number(),
      actor: v.pipe(
        v.string(),
        v.description(
          'owner, command line, anonymous (not signed in), or the id of a token, a share link or a key',
        ),
      ),
      address: v.nullable(v.string()),
      action: v.string(),
      subject: v.pipe(v.nullable(v.string()), v.description('What the action was applied to')),
      detail: v.nullable(v.string()),
    }),
  ),
  next: v.pipe(
    v.nullable(v.number()),
    v.description('The value of `before` for the next page; null on the last page'),
  ),
})

type Deps = { sessions: Sessions; audit: Audit; auth: Auth }

export const ownerRoutes = (deps: Deps): Route[] => [...sessionRoutes(deps), ...auditRoutes(deps)]

const sessionRoutes = ({ sessions, audit, auth }: Deps): Route[] => [
  ...defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/sessions',
    summary: 'Lists the owner’s sessions',
    access: auth.owner,
    answer: { description: 'Last used first', schema: SessionsAnswer },
    read({ caller }): v.InferOutput<typeof SessionsAnswer> {
      return {
        sessions: sessions.list().map((session) => {
          const { id, created_at, seen_at, address, user_agent } = session
          const expires_at = sessions.expiresAt(session)
          return { id, created_at, seen_at, expires_at, address, user_agent, current: id === caller.id }
        }),
      }
    },
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'DELETE',
    path: '/api/v1/sessions',
    summary: 'Ends all other sessions of the owner',
    access: auth.owner,
    answers: { 200: { description: 'How many sessions ended', schema: v.object({ ended: v.number() }) } },
    async handler({ event, caller }) {
      const ended = await auth.commitAs(event, auth.owner, (actor) => {
        const count = sessions.endOwners(caller.id)
        audit.note({ ...actor, action: 'sessions.ended', detail: `${count} others` })
        return count
      })
      return { ended }
    },
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'DELETE',
    path: '/api/v1/sessions/:id',
    summary: 'Ends one of the owner’s sessions',
    access: auth.owner,
    answers: { 204: { description: 'The session is ended' } },
    refusals: { 404: 'unknown_session' },
    async handler({ event, params: { id } }) {
      if (!sessions.list().some((session) => session.id === id))
        throw new Refusal(404, 'unknown_session', `there is no session ${id.slice(0, 40)}, or it has ended`)
      await auth.commitAs(event, auth.owner, (actor) => {
        sessions.end(id)
        audit.note({ ...actor, action: 'session.ended', subject: id })
      })
    },
  }),
]

const auditRoutes = ({ audit, auth }: Deps): Route[] =>
  defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/audit',
    summary: 'Lists the audit log, newest first',
    access: auth.owner,
    query: AuditQuery,
    answer: { description: 'A page of the audit log', schema: AuditAnswer },
    read({ query: { before, limit } }): v.InferOutput<typeof AuditAnswer> {
      const entries = audit.list(before ?? null, limit)
      return { entries, next: entries.length < limit ? null : (entries.at(-1)?.id ?? null) }
    },
  })
