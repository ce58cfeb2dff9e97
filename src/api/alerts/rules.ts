/** `/api/v1/alerts/rules`: what alerts tell. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import type { Rule } from '../../alerts/rules/rules.ts'
import {
  RuleSettings,
  SomeRuleSettings,
  settingsOf,
  TEMPLATES,
  TemplateNameSchema,
} from '../../alerts/rules/templates.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(60))
const channels = v.pipe(
  v.nullable(v.pipe(v.array(v.string()), v.maxLength(50))),
  v.description('Ids of channels; null for all channels, also later ones'),
)
const is_on = v.boolean()
const organization_id = v.optional(
  v.pipe(v.string(), v.description('Required if there are several organizations')),
)
const GivenSettings = v.pipe(
  SomeRuleSettings,
  v.description('Settings that are not given have the template’s defaults'),
)
const NewRuleBody = v.strictObject({
  organization_id,
  name,
  template: TemplateNameSchema,
  settings: v.optional(GivenSettings, {}),
  channels: v.optional(channels, null),
  is_on: v.optional(is_on, true),
})
const RuleChangesBody = v.strictObject({
  name: v.exactOptional(name),
  settings: v.exactOptional(GivenSettings),
  channels: v.exactOptional(channels),
  is_on: v.exactOptional(is_on),
})
const PreviewBody = v.strictObject({
  organization_id,
  template: TemplateNameSchema,
  settings: v.optional(GivenSettings, {}),
})

export const RuleAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  name: v.string(),
  template: v.string(),
  settings: RuleSettings,
  channels,
  is_on,
  source: v.pipe(v.string(), v.description('dashboard, or config.toml')),
  created_at: v.number(),
})
export const RulesAnswer = v.object({
  rules: v.array(RuleAnswer),
  templates: v.array(
    v.object({
      name: v.string(),
      title: v.string(),
      about: v.string(),
      basis: v.picklist(['sale', 'event', 'figures', 'trouble']),
      types: v.array(v.string()),
      settings: RuleSettings,
    }),
  ),
})
export const PreviewAnswer = v.object({
  preview: v.nullable(
    v.object({
      count: v.pipe(
        v.number(),
        v.description('Messages in the last seven days, before quiet hours and limits'),
      ),
      messages: v.pipe(
        v.array(v.object({ event_id: v.string(), at: v.number(), title: v.string(), body: v.string() })),
        v.description('The newest ten'),
      ),
    }),
  ),
})

const UNKNOWN = { 404: 'unknown_rule' } as const

type Deps = { alerts: Alerts; organizations: Organizations; audit: Audit; auth: Auth }

export const ruleRoutes = (deps: Deps): Route[] => [
  ...defineList(deps.auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/alerts/rules',
    summary: 'Lists the rules of alerts, and the templates for new ones',
    access: deps.auth.owner,
    answer: { description: 'All rules, oldest first', schema: RulesAnswer },
    read: () => ({ rules: deps.alerts.rules.list().map(describe), templates: describedTemplates() }),
  }),
  previewRoute(deps),
  creationRoute(deps),
  ...changeRoutes(deps),
]

const describe = ({ cursor: _, channels: ids, ...rule }: Rule): v.InferOutput<typeof RuleAnswer> => ({
  ...rule,
  channels: ids && [...ids],
})

const describedTemplates = () =>
  TEMPLATES.map(({ name: template, title, about, basis, types }) => ({
    name: template,
    title,
    about,
    basis,
    types: [...types],
    settings: settingsOf(template),
  }))

function previewRoute({ alerts, organizations, auth }: Deps): Route {
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/alerts/rules/preview',
    summary: 'Shows which events of the last seven days a rule would have told; null if it follows figures',
    access: auth.owner,
    body: PreviewBody,
    answers: { 200: { description: 'The messages', schema: PreviewAnswer } },
    refusals: { 400: 'organization_needed', 404: 'unknown_organization' },
    async handler({ event, body: { organization_id: organization, template, settings } }) {
      // The body may have taken long to arrive: check access again.
      auth.owner.admit(event)
      const { id } = findOrganization(organization)
      const rule = { organization_id: id, template, settings: settingsOf(template, settings) }
      return { preview: await alerts.preview(rule) }
    },
  })
}

function creationRoute({ alerts, organizations, audit, auth }: Deps): Route {
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/alerts/rules',
    summary: 'Adds a rule, which begins with the next event',
    access: auth.owner,
    body: NewRuleBody,
    answers: { 201: { description: 'The rule', schema: RuleAnswer } },
    refusals: {
      400: 'organization_needed',
      404: 'unknown_organization, unknown_channel, unknown_app',
      409: 'name_taken, too_many_rules',
    },
    async handler({ event, body: { organization_id: organization, ...body } }) {
      const { id } = findOrganization(organization)
      const rule = await auth.commitAs(event, auth.owner, (actor) => {
        const added = alerts.ruleAdministration.add({ ...body, organization_id: id, source: 'dashboard' })
        audit.note({ ...actor, action: 'rule.made', subject: added.id, detail: added.name })
        return added
      })
      event.res.status = 201
      return describe(rule)
    },
  })
}

function changeRoutes({ alerts, audit, auth }: Deps): Route[] {
  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'PATCH',
      path: '/api/v1/alerts/rules/:id',
      summary: 'Changes a rule; one that is switched on begins with the next event',
      access: auth.owner,
      body: RuleChangesBody,
      answers: { 200: { description: 'The changed rule', schema: RuleAnswer } },
      refusals: { 404: 'unknown_rule, unknown_channel, unknown_app', 409: 'declared_in_config, name_taken' },
      async handler({ event, params: { id }, body }) {
        const changed = await auth.commitAs(event, auth.owner, (actor) => {
          const rule = alerts.ruleAdministration.change(id, body)
          const detail = `${rule.name}: ${Object.keys(body).join(', ')}`
          audit.note({ ...actor, action: 'rule.changed', subject: id, detail })
          return rule
        })
        return describe(changed)
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/alerts/rules/:id',
      summary: 'Removes a rule; its messages stay in the history',
      access: auth.owner,
      answers: { 204: { description: 'Removed' } },
      refusals: { ...UNKNOWN, 409: 'declared_in_config' },
      handler: ({ event, params: { id } }) =>
        auth.commitAs(event, auth.owner, (actor) => {
          const { name: detail } = alerts.ruleAdministration.remove(id)
          audit.note({ ...actor, action: 'rule.removed', subject: id, detail })
        }),
    }),
  ]
}
