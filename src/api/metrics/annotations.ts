/** `/api/v1/annotations`: notes on days of the charts. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { list, whole } from '../../access/scope.ts'
import { SOURCES } from '../../annotations/annotation.ts'
import type { Annotations } from '../../annotations/annotations.ts'
import type { AppleReading } from '../../annotations/apple_reading.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { isDay } from '../../days.ts'
import { jsonSchema } from '../../http/documented.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { defineList } from '../lists.ts'
import { READ_ROUTE } from '../route_defaults.ts'
import { openAnnotationScopes } from './annotation_scope.ts'

const MAX_TEXT = 200
/** Years with which charts can work. */
const EARLIEST = '2008-01-01'
const LATEST = '2099-12-31'
/** The same years, for the OpenAPI document. */
const YEARS = '^20(0[89]|[1-9]\\d)-'

const day = v.pipe(
  v.string(),
  v.check(isDay, 'must be a day, such as 2026-03-01'),
  v.check((on) => on >= EARLIEST && on <= LATEST, `must be between ${EARLIEST} and ${LATEST}`),
  jsonSchema({ type: 'string', format: 'date', pattern: YEARS }),
)
const text = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('must not be empty'),
  v.maxLength(MAX_TEXT, `must have at most ${MAX_TEXT} characters`),
)
const app = v.pipe(
  v.nullable(v.pipe(v.string(), v.maxLength(200))),
  v.description('The id or bundle id of an app; null for all apps of the organization'),
)

const AnnotationAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  app_id: v.pipe(v.nullable(v.string()), v.description('null: all apps of the organization')),
  annotated_on: v.string(),
  text: v.string(),
  source: v.pipe(
    v.picklist(SOURCES),
    v.description('owner: by hand; token: by a program; version and price: from Apple'),
  ),
  created_at: v.number(),
  updated_at: v.number(),
})
export const AnnotationsAnswer = v.object({
  annotations: v.array(AnnotationAnswer),
  apple: v.pipe(
    v.array(
      v.object({
        app_id: v.string(),
        what: v.picklist(['versions', 'prices']),
        read_at: v.nullable(v.number()),
        refused: v.pipe(v.nullable(v.string()), v.description('Why Apple refused the last read')),
      }),
    ),
    v.description('When the versions and prices of each app were last read from Apple'),
  ),
  next: v.pipe(v.nullable(v.string()), v.description('The value of `before` for the next page')),
})

const AnnotationsQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  organization: v.optional(v.pipe(v.string(), v.description('The id of an organization'))),
  from: v.optional(v.pipe(day, v.description('The first day'))),
  to: v.optional(v.pipe(day, v.description('The last day'))),
  before: v.optional(v.pipe(v.string(), v.maxLength(100), v.description('`next` of the previous page'))),
  limit: v.optional(v.pipe(whole(1, 500), v.description('Page size, 1 to 500')), '100'),
})
const CreateBody = v.strictObject({
  annotated_on: day,
  text,
  app: v.optional(app, null),
  organization: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description('The id of an organization; needed if there are several and no app'),
    ),
    null,
  ),
})
const ChangeBody = v.strictObject({
  annotated_on: v.optional(day),
  text: v.optional(text),
  app: v.optional(app),
})

type Deps = {
  store: Store
  annotations: Annotations
  appleReading: AppleReading
  organizations: Organizations
  apps: Apps
  auth: Auth
  audit: Audit
}

export const annotationRoutes = (deps: Deps): Route[] => [
  ...listRoutes(deps),
  additionRoute(deps),
  ...changeRoutes(deps),
]

function listRoutes(deps: Deps): Route[] {
  const { annotations, appleReading, auth } = deps
  const { filterOf } = openAnnotationScopes(deps)
  return defineList(auth, {
    ...READ_ROUTE,
    tag: 'Metrics',
    path: '/api/v1/annotations',
    summary: 'Lists the annotations of the charts, newest day first',
    access: auth.reader,
    query: AnnotationsQuery,
    answer: { description: 'A page of annotations', schema: AnnotationsAnswer },
    refusals: { 404: 'unknown_app, unknown_organization' },
    read({ caller, query: { from = null, to = null, before = null, limit, ...scope } }) {
      const filter = filterOf(caller, scope)
      const apple = appleReading.reads().filter(({ app_id }) => filter.apps.includes(app_id))
      return { ...annotations.list({ ...filter, from, to, before, limit }), apple }
    },
  })
}

/** Checks the access again in the unit of work: a body can arrive slowly, and the access may have ended. */
function additionRoute(deps: Deps): Route {
  const { store, annotations, auth, audit } = deps
  const { targetOf } = openAnnotationScopes(deps)
  return defineRoute({
    tag: 'Metrics',
    method: 'POST',
    path: '/api/v1/annotations',
    summary: 'Adds an annotation. Needs the owner, or a token that may write annotations',
    access: auth.annotator,
    body: CreateBody,
    answers: { 201: { description: 'The annotation', schema: AnnotationAnswer } },
    refusals: {
      400: 'organization_needed',
      404: 'unknown_app, unknown_organization',
      409: 'too_many_annotations',
    },
    async handler({ event, body }) {
      event.res.status = 201
      return store.commit(() => {
        const caller = auth.annotator.admit(event)
        const { organization_id, app_id } = targetOf(caller, body)
        const { annotated_on, text } = body
        const actor = auth.auditActorOf(event)
        const source = actor.actor === 'owner' ? 'owner' : 'token'
        const made = annotations.add(organization_id, { app_id, annotated_on, text }, source)
        audit.note({ ...actor, action: 'annotation.made', subject: made.id })
        return made
      })
    },
  })
}

/** Both check the access again, as `additionRoute` does. */
function changeRoutes(deps: Deps): Route[] {
  const { store, annotations, auth, audit } = deps
  const { appFor, requireReadable } = openAnnotationScopes(deps)
  return [
    defineRoute({
      tag: 'Metrics',
      method: 'PATCH',
      path: '/api/v1/annotations/:id',
      summary: 'Changes an annotation',
      access: auth.annotator,
      body: ChangeBody,
      answers: { 200: { description: 'The annotation', schema: AnnotationAnswer } },
      refusals: { 404: 'unknown_annotation, unknown_app' },
      handler: ({ event, params: { id }, body: { app, ...changes } }) =>
        store.commit(() => {
          const caller = auth.annotator.admit(event)
          const one = annotations.get(id)
          requireReadable(caller, one)
          const moved = app === undefined ? {} : { app_id: appFor(caller, one.organization_id, app) }
          const changed = annotations.change(id, { ...changes, ...moved })
          audit.note({ ...auth.auditActorOf(event), action: 'annotation.changed', subject: id })
          return changed
        }),
    }),
    defineRoute({
      tag: 'Metrics',
      method: 'DELETE',
      path: '/api/v1/annotations/:id',
      summary: 'Deletes an annotation. One from Apple does not come back',
      access: auth.annotator,
      answers: { 204: { description: 'The annotation is deleted' } },
      refusals: { 404: 'unknown_annotation' },
      async handler({ event, params: { id } }) {
        await store.commit(() => {
          requireReadable(auth.annotator.admit(event), annotations.get(id))
          annotations.drop(id)
          audit.note({ ...auth.auditActorOf(event), action: 'annotation.removed', subject: id })
        })
      },
    }),
  ]
}
