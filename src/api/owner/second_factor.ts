/** `/api/v1/second-factor`: the owner's authenticator app and its recovery codes. Owner only. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit, AuditAction } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { SecondFactor } from '../../access/second_factor/second_factor.ts'
import type { Sessions } from '../../access/sessions.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

export const SecondFactorAnswer = v.object({
  since: v.pipe(
    v.nullable(v.number()),
    v.description('When the authenticator app was set up; null without one'),
  ),
  recovery_codes_left: v.pipe(v.number(), v.description('How many recovery codes are unused')),
})
export const SetupAnswer = v.object({
  secret: v.pipe(v.string(), v.description('The key in base32, to type into an app')),
  uri: v.pipe(v.string(), v.description('The otpauth URI, for a QR code')),
})
export const RecoveryCodesAnswer = v.object({
  recovery_codes: v.pipe(
    v.array(v.string()),
    v.description('Each replaces a code of the app once; shown only in this response'),
  ),
})
const TurnOn = v.strictObject({
  code: v.pipe(
    v.string(),
    v.regex(/^\s*\d{3}\s*\d{3}\s*$/, 'must have six digits'),
    v.description('The current code of the app'),
  ),
})

type Deps = {
  secondFactor: SecondFactor
  sessions: Sessions
  auth: Auth
  audit: Audit
  base_url: () => string | undefined
}

export function secondFactorRoutes(deps: Deps): Route[] {
  const { secondFactor, auth, base_url } = deps

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'GET',
      path: '/api/v1/second-factor',
      summary: 'Returns whether an authenticator app is set up',
      access: auth.owner,
      answers: { 200: { description: 'The second factor', schema: SecondFactorAnswer } },
      handler: () => secondFactor.status(),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/second-factor/setup',
      summary: 'Creates a secret for an authenticator app; it counts after the first code',
      access: auth.freshOwner,
      answers: { 200: { description: 'The secret, valid for fifteen minutes', schema: SetupAnswer } },
      refusals: { 409: 'second_factor_on' },
      handler: ({ caller }) => secondFactor.begin(caller, new URL(base_url() ?? 'http://localhost').host),
    }),
    ...changeRoutes(deps),
  ]
}

/** The routes that change how the owner signs in. Each ends the owner's other sessions. */
function changeRoutes({ secondFactor, sessions, auth, audit }: Deps): Route[] {
  const codes = { 200: { description: 'The recovery codes', schema: RecoveryCodesAnswer } } as const

  const change = <Done>(event: H3Event, action: AuditAction, work: () => Done): Promise<Done> =>
    auth.commitAs(event, auth.freshOwner, (actor) => {
      const done = work()
      sessions.endOwners(auth.freshOwner.admit(event).id)
      audit.note({ ...actor, action })
      return done
    })

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/second-factor',
      summary: 'Requires codes of the new authenticator app from now on, and ends the owner’s other sessions',
      access: auth.freshOwner,
      body: TurnOn,
      answers: codes,
      refusals: { 400: 'wrong_code', 409: 'second_factor_on, setup_expired, key_unreadable' },
      async handler({ event, body: { code } }) {
        const turnOn = await secondFactor.checkSetup(auth.freshOwner.admit(event), code)
        return { recovery_codes: await change(event, 'second_factor.turned_on', turnOn) }
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/second-factor',
      summary: 'Removes the authenticator app and the recovery codes, and ends the owner’s other sessions',
      access: auth.freshOwner,
      answers: { 204: { description: 'The password alone signs in' } },
      refusals: { 404: 'second_factor_off' },
      handler: ({ event }) => change(event, 'second_factor.turned_off', secondFactor.turnOff),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/second-factor/recovery-codes',
      summary: 'Replaces the recovery codes, and ends the owner’s other sessions',
      access: auth.freshOwner,
      answers: codes,
      refusals: { 404: 'second_factor_off' },
      handler: async ({ event }) => ({
        recovery_codes: await change(event, 'recovery_codes.made', secondFactor.renewRecoveryCodes),
      }),
    }),
  ]
}
