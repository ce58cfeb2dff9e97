/** `/api/v1/widgets`: tokens of widgets and badges, and how they look. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import { DEFAULT_WIDGET_METRICS, WIDGET_METRICS, WidgetMetricSchema } from '../../alerts/widgets/figures.ts'
import { widgetJson } from '../../alerts/widgets/texts.ts'
import { WIDGET_KINDS, type WidgetToken } from '../../alerts/widgets/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import { invalid } from '../../http/parse.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const metrics = v.pipe(v.array(WidgetMetricSchema), v.minLength(1), v.maxLength(WIDGET_METRICS.length))
const NewWidgetBody = v.strictObject({
  organization_id: v.optional(
    v.pipe(v.string(), v.description('Required if there are several organizations')),
  ),
  kind: v.picklist(WIDGET_KINDS),
  label: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(60)),
  metrics: v.optional(metrics, [...DEFAULT_WIDGET_METRICS]),
  apps: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(100))),
      v.description('Ids of apps; null for all'),
    ),
    null,
  ),
})
const nullableText = v.nullable(v.string())
export const WidgetAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  kind: v.picklist(WIDGET_KINDS),
  label: v.string(),
  token: v.pipe(nullableText, v.description('The token of a badge, which is public; null for a widget')),
  metrics: v.array(v.string()),
  apps: v.nullable(v.array(v.string())),
  created_at: v.number(),
  used_at: v.pipe(v.nullable(v.number()), v.description('To within five minutes')),
})
export const WidgetsAnswer = v.object({
  widgets: v.array(WidgetAnswer),
  metrics: v.array(v.object({ name: v.string(), title: v.string() })),
})
export const CreatedWidgetAnswer = v.object({
  widget: WidgetAnswer,
  token: v.pipe(v.string(), v.description('Shown only in this response, unless it is a badge')),
})
const FiguresAnswer = v.pipe(
  v.record(v.string(), v.unknown()),
  v.description('What `GET /widget/v1.json` answers; docs/widgets.md describes it'),
)
const UNKNOWN = { 404: 'unknown_widget' } as const

type Deps = {
  alerts: Pick<Alerts, 'widgets'>
  apps: Apps
  organizations: Organizations
  audit: Audit
  auth: Auth
}

export const widgetRoutes = (deps: Deps): Route[] => [
  ...defineList(deps.auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/widgets',
    summary: 'Lists widgets and badges, oldest first, and the figures that they can have',
    access: deps.auth.owner,
    answer: { description: 'All that were not removed', schema: WidgetsAnswer },
    read: () => ({
      widgets: deps.alerts.widgets.tokens.list().map(described),
      metrics: WIDGET_METRICS.map(({ name, title }) => ({ name, title })),
    }),
  }),
  figuresRoute(deps),
  creationRoute(deps),
  removalRoute(deps),
]

const described = ({ metrics: names, apps, ...widget }: WidgetToken): v.InferOutput<typeof WidgetAnswer> => ({
  ...widget,
  metrics: [...names],
  apps: apps && [...apps],
})

function figuresRoute({ alerts: { widgets }, auth }: Deps): Route {
  return defineRoute({
    ...OWNER_ROUTE,
    method: 'GET',
    path: '/api/v1/widgets/:id/figures',
    summary: 'Returns what a widget shows now',
    access: auth.owner,
    answers: { 200: { description: 'The figures', schema: FiguresAnswer } },
    refusals: UNKNOWN,
    async handler({ params: { id } }) {
      const shown = await widgets.read(widgets.tokens.require(id))
      return widgetJson(shown, widgets.url())
    },
  })
}

function creationRoute({ alerts: { widgets }, apps, organizations, audit, auth }: Deps): Route {
  const findOrganization = openOrganizationLookup(organizations)

  /** @throws Refusal 404 `unknown_app` */
  function assertApps(ids: readonly string[] | null, organization_id: string): void {
    const unknown = ids?.find((id) => apps.get(id)?.organization_id !== organization_id)
    if (unknown !== undefined)
      throw new Refusal(404, 'unknown_app', `no app has the id ${unknown.slice(0, 40)}`)
  }

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/widgets',
    summary: 'Makes a widget or a badge with a token of its own',
    access: auth.freshOwner,
    body: NewWidgetBody,
    answers: { 201: { description: 'The widget and its token', schema: CreatedWidgetAnswer } },
    refusals: {
      400: 'organization_needed',
      404: 'unknown_organization, unknown_app',
      409: 'too_many_widgets',
    },
    async handler({ event, body: { organization_id: organization, ...body } }) {
      const { id: organization_id } = findOrganization(organization)
      assertApps(body.apps, organization_id)
      if (body.kind === 'badge' && body.metrics.length !== 1)
        throw invalid([{ path: 'metrics', message: 'a badge has one figure' }])
      event.res.status = 201
      return auth.commitAs(event, auth.freshOwner, (actor) => {
        const { widget, text } = widgets.tokens.create({ ...body, organization_id })
        audit.note({ ...actor, action: 'widget.made', subject: widget.id, detail: widget.label })
        return { widget: described(widget), token: text }
      })
    },
  })
}

function removalRoute({ alerts: { widgets }, audit, auth }: Deps): Route {
  return defineRoute({
    ...OWNER_ROUTE,
    method: 'DELETE',
    path: '/api/v1/widgets/:id',
    summary: 'Removes a widget or a badge; its token is refused at once',
    access: auth.owner,
    answers: { 204: { description: 'Removed' } },
    refusals: UNKNOWN,
    handler: ({ event, params: { id } }) =>
      auth.commitAs(event, auth.owner, (actor) => {
        const { label: detail } = widgets.tokens.revoke(id)
        audit.note({ ...actor, action: 'widget.removed', subject: id, detail })
      }),
  })
}
