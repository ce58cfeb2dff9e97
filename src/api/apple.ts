/** What may be asked: Apple's own door. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Organizations } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import { addressBucket, clientAddress } from '../http/addresses.ts'
import { readJson } from '../http/body/body.ts'
import { parse } from '../http/parse.ts'
import type { Route } from '../http/route.ts'
import type { Arrivals } from '../ledger/arrivals.ts'
import type { Store } from '../store/store.ts'

const SignedPayload = v.object({
  signedPayload: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.description('responseBodyV2 of App Store Server Notifications V2: a JWS'),
  ),
})
const Taken = v.object({
  applied: v.pipe(v.number(), v.description('Organizations it was applied to')),
  duplicates: v.pipe(v.number(), v.description('Organizations that had it already')),
  pending: v.pipe(
    v.boolean(),
    v.description('True when no connected app has its bundle id: kept for seven days'),
  ),
})

const ANSWERS = {
  200: { description: 'It is on disk', schema: Taken },
  400: { description: 'invalid_json, invalid_request, not_a_notification' },
  401: { description: 'invalid_signature: not proved to be Apple’s' },
  413: { description: 'too_large' },
  503: { description: 'It cannot be stored now; Apple tries again' },
}

type Deps = {
  store: Pick<Store, 'assertRoom'>
  arrivals: Arrivals
  organizations: Organizations
  limits: { apple_body_bytes: number }
}

export function ledgerRoutes({ store, arrivals, organizations, limits }: Deps): Route[] {
  async function take(event: H3Event, organization_id: string | null) {
    store.assertRoom()
    const { signedPayload } = parse(SignedPayload, await readJson(event, limits.apple_body_bytes, 'reserved'))
    return arrivals.receive(signedPayload, organization_id, addressBucket(clientAddress(event)))
  }

  function named(event: H3Event): string {
    const slug = event.context.params?.organization ?? ''
    const organization = organizations.list().find((one) => one.slug === slug || one.id === slug)
    if (!organization) throw new Refusal(404, 'unknown_organization', `there is no organization ${slug}`)
    return organization.id
  }

  const common = { method: 'POST', tag: 'Apple', body: SignedPayload, security: ['none'] } as const
  return [
    {
      ...common,
      path: '/apple/notifications',
      summary: 'App Store Server Notifications V2, for every app and both environments',
      answers: ANSWERS,
      handler: (event) => take(event, null),
    },
    {
      ...common,
      path: '/apple/notifications/:organization',
      summary: 'The same, for the apps of one organization',
      answers: { ...ANSWERS, 404: { description: 'unknown_organization' } },
      handler: (event) => take(event, named(event)),
    },
  ]
}
