/** `/api/v1/security`: who calls, what is refused, and whether only attested devices are accepted. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Attest } from '../../attribution/devices/attest.ts'
import { Refusal } from '../../errors.ts'
import { AREAS } from '../../http/admission/call_history.ts'
import type { Http } from '../../http/http.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const UntilAt = v.pipe(
  v.nullable(v.number()),
  v.description('When calls without proof are accepted again, in milliseconds; null while they are accepted'),
)
const AttestedOnlyAnswer = v.object({ organization_id: v.string(), until_at: UntilAt })

const AreaCounts = v.object({
  area: v.pipe(
    v.picklist(AREAS),
    v.description(
      'sdk: identify and attribute; enrolment: of devices; apple: notifications; sign_in: passwords, passkeys and share links; api: /api/v1; connection: what ended before it was a request; other: pages, probes and everything else',
    ),
  ),
  admitted: v.pipe(v.number(), v.description('Answers with a status below 400')),
  refused: v.number(),
  reasons: v.pipe(
    v.array(
      v.object({
        code: v.pipe(
          v.string(),
          v.description(
            'The code of the answer. connection_ended: displaced while most connections were in use; connection_refused: all were',
          ),
        ),
        limit: v.pipe(
          v.nullable(v.string()),
          v.description(
            'Of several limits, the one that was reached: address, network, device, organization, account, or reserved, the room for callers that go first',
          ),
        ),
        calls: v.number(),
      }),
    ),
    v.description('Most frequent first'),
  ),
})
const Counted = v.object({ admitted: v.number(), refused: v.number() })
const MostRefused = (words: string) =>
  v.pipe(
    v.array(v.object({ address: v.string(), calls: v.number() })),
    v.description(
      `${words} with most refusals, at least so many. Exact while at most a hundred were refused in an hour`,
    ),
  )

const Calls = v.object({
  since_at: v.pipe(
    v.number(),
    v.description(
      'From when on calls are counted: 23 full hours before the current one, or the start of the server',
    ),
  ),
  until_at: v.number(),
  areas: v.array(AreaCounts),
  proof: v.pipe(
    v.object({ proved: Counted, unproved: Counted }),
    v.description('SDK calls with a device token or a secret key, and all others'),
  ),
  addresses: MostRefused('Addresses (IPv6: /64)'),
  networks: MostRefused('Networks (/24, IPv6: /48)'),
  hours: v.pipe(
    v.array(v.object({ began_at: v.number(), areas: v.array(AreaCounts) })),
    v.description('The hours with calls, oldest first'),
  ),
})

export const SecurityAnswer = v.object({
  calls: v.pipe(Calls, v.description('What was counted in memory; a restart forgets it')),
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
              v.description(
                'Attested devices whose tokens are valid. With 0, all clients of the app are refused',
              ),
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
  http: { calls: Pick<Http['calls'], 'read'> }
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
      summary:
        'Returns who called in the last 24 hours, what was refused, and whether only attested devices are accepted',
      access: auth.owner,
      answers: { 200: { description: 'The state', schema: SecurityAnswer } },
      handler: (): v.InferOutput<typeof SecurityAnswer> => ({
        calls: deps.http.calls.read(),
        attested_only: attestedOnlyOf(deps),
      }),
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
