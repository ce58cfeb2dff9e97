/** `/api/v1/security`: whether an organization accepts only attested devices. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Attest } from '../../attribution/devices/attest.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const UntilAt = v.pipe(
  v.nullable(v.number()),
  v.description('When calls without proof are accepted again, in milliseconds; null while they are accepted'),
)
const AttestedOnlyAnswer = v.object({ organization_id: v.string(), until_at: UntilAt })

export const SecurityAnswer = v.object({
  attested_only: v.pipe(
    v.array(
      v.object({
        organization_id: v.string(),
        name: v.string(),
        until_at: UntilAt,
        apps: v.array(
          v.object({
            app_id: v.string(),
            devices: v.pipe(
              v.number(),
              v.description('Attested devices whose tokens are valid. With 0, all clients of the app are refused'),
            ),
            has_android: v.pipe(
              v.boolean(),
              v.description('Whether the app has an Android package, whose clients cannot be attested'),
            ),
          }),
        ),
      }),
    ),
    v.description('Each organization'),
  ),
})

type Deps = {
  apps: Pick<Apps, 'list'>
  organizations: Pick<Organizations, 'list'>
  attest: Pick<Attest, 'attestedOnly' | 'list'>
  audit: Audit
  auth: Auth
}

export function securityRoutes(deps: Deps): Route[] {
  const { attest, audit, auth } = deps
  const common = {
    ...OWNER_ROUTE,
    path: '/api/v1/organizations/:id/attested-only',
    access: auth.owner,
    refusals: { 404: 'unknown_organization' },
  } as const

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'GET',
      path: '/api/v1/security',
      summary: 'Returns whether organizations accept only attested devices',
      access: auth.owner,
      answers: { 200: { description: 'The state', schema: SecurityAnswer } },
      handler: (): v.InferOutput<typeof SecurityAnswer> => ({ attested_only: attestedOnlyOf(deps) }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      summary: 'Accepts only SDK calls of attested devices and with a secret key, for 24 hours from now',
      description: 'Other calls get 429 `attested_only`, which SDKs repeat later. It ends by itself.',
      no_fields: true,
      answers: { 200: { description: 'It is on', schema: AttestedOnlyAnswer } },
      handler: ({ event, params: { id } }) =>
        auth.commitAs(event, auth.owner, (actor) => {
          assertKnown(id)
          const until_at = attest.attestedOnly.begin(id)
          audit.note({ ...actor, action: 'attested_only.begun', subject: id })
          return { organization_id: id, until_at }
        }),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      summary: 'Accepts SDK calls without proof again; idempotent',
      answers: { 200: { description: 'It is off', schema: AttestedOnlyAnswer } },
      handler: ({ event, params: { id } }) =>
        auth.commitAs(event, auth.owner, (actor) => {
          assertKnown(id)
          if (attest.attestedOnly.untilOf(id) !== null)
            audit.note({ ...actor, action: 'attested_only.ended', subject: id })
          attest.attestedOnly.end(id)
          return { organization_id: id, until_at: null }
        }),
    }),
  ]

  function assertKnown(id: string): void {
    if (deps.organizations.list().some((one) => one.id === id)) return
    throw new Refusal(404, 'unknown_organization', `there is no organization ${id.slice(0, 40)}`)
  }
}

function attestedOnlyOf({ apps, organizations, attest }: Deps) {
  const devices = attest.list.countByApp()
  return organizations.list().map(({ id, name }) => ({
    organization_id: id,
    name,
    until_at: attest.attestedOnly.untilOf(id),
    apps: apps
      .list()
      .filter(({ organization_id }) => organization_id === id)
      .map((app) => ({
        app_id: app.id,
        devices: devices.get(app.id) ?? 0,
        has_android: app.android_package !== null,
      })),
  }))
}
