/** `/api/v1/keys`: the SDK keys that apps and the backend use. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Key, Keys } from '../../apps/keys.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { openOrganizationLookup } from '../lookup.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const HOUR_MS = 3_600_000
const WEEK_HOURS = 7 * 24
const MAX_OVERLAP_HOURS = 720

const CreateBody = v.strictObject({
  organization_id: v.optional(
    v.pipe(v.string(), v.description('Required if there are several organizations')),
  ),
  kind: v.picklist(['publishable', 'secret']),
  label: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(100)),
})
const RotateBody = v.strictObject({
  overlap_hours: v.optional(
    v.pipe(
      v.number(),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(MAX_OVERLAP_HOURS, `must be at most ${MAX_OVERLAP_HOURS}`),
      v.description('How many hours the old key stays valid'),
    ),
    WEEK_HOURS,
  ),
})

const nullableInstant = v.nullable(v.number())
export const KeyAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  kind: v.picklist(['publishable', 'secret']),
  token: v.pipe(
    v.nullable(v.string()),
    v.description('For a secret key only in the response that creates it'),
  ),
  hint: v.string(),
  label: v.string(),
  source: v.string(),
  state: v.pipe(v.picklist(['alive', 'ending', 'ended']), v.description('ending: alive, with an expiry')),
  created_at: v.number(),
  expires_at: nullableInstant,
  revoked_at: nullableInstant,
})
export const RotatedAnswer = v.object({
  ...KeyAnswer.entries,
  replaces: v.string(),
  old_expires_at: v.number(),
})

type Deps = { clock: Clock; keys: Keys; organizations: Organizations; audit: Audit; auth: Auth }

const ENDED_KEY_ERRORS = { 404: 'unknown_key', 409: 'declared_in_config, key_ended' } as const

export const keyRoutes = (deps: Deps): Route[] => [...creationRoutes(deps), ...endingRoutes(deps)]

function creationRoutes({ clock, keys, organizations, audit, auth }: Deps): Route[] {
  const findOrganization = openOrganizationLookup(organizations)

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/keys',
      summary: 'Lists SDK keys, including ended ones; shows publishable keys in full',
      access: auth.owner,
      answer: { description: 'Oldest first', schema: v.object({ keys: v.array(KeyAnswer) }) },
      read: () => ({ keys: keys.list(null).map((key) => withState(key, clock())) }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/keys',
      summary: 'Creates a key; a secret key is shown only in this response',
      access: auth.owner,
      body: CreateBody,
      answers: { 201: { description: 'The key', schema: KeyAnswer } },
      refusals: { 400: 'organization_needed', 403: 'reauthentication_required', 404: 'unknown_organization' },
      async handler({ event, body: { organization_id, kind, label } }) {
        const key = await auth.commitAs(event, accessFor(kind, auth), (actor) => {
          const created = keys.create(findOrganization(organization_id).id, kind, label, {
            source: 'dashboard',
          })
          audit.note({ ...actor, action: 'key.made', subject: created.id, detail: `${kind}: ${label}` })
          return created
        })
        event.res.status = 201
        return withState(key, clock())
      },
    }),
  ]
}

function endingRoutes({ clock, keys, audit, auth }: Deps): Route[] {
  function requireKey(id: string): Key {
    const found = keys.list(null).find((key) => key.id === id)
    if (found) return found
    throw new Refusal(404, 'unknown_key', `there is no key ${id.slice(0, 40)}`)
  }

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/keys/:id/rotate',
      summary: 'Creates a successor; the old key stays valid for a while',
      access: auth.owner,
      body: RotateBody,
      answers: { 201: { description: 'The new key', schema: RotatedAnswer } },
      refusals: { ...ENDED_KEY_ERRORS, 403: 'reauthentication_required' },
      async handler({ event, params: { id }, body: { overlap_hours } }) {
        const key = await auth.commitAs(event, accessFor(requireKey(id).kind, auth), (actor) => {
          const successor = keys.rotate(id, overlap_hours * HOUR_MS, 'dashboard')
          audit.note({ ...actor, action: 'key.rotated', subject: id, detail: successor.id })
          return successor
        })
        event.res.status = 201
        return withState(key, clock())
      },
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/keys/:id',
      summary: 'Revokes a key immediately',
      access: auth.owner,
      answers: { 200: { description: 'The revoked key', schema: KeyAnswer } },
      refusals: ENDED_KEY_ERRORS,
      async handler({ event, params: { id } }) {
        const key = await auth.commitAs(event, auth.owner, (actor) => {
          const ended = keys.revoke(id)
          audit.note({ ...actor, action: 'key.revoked', subject: id })
          return ended
        })
        return withState(key, clock())
      },
    }),
  ]
}

/** Only an owner who entered the password recently may create secret keys. */
const accessFor = (kind: Key['kind'], { owner, freshOwner }: Auth) => (kind === 'secret' ? freshOwner : owner)

const withState = <Row extends Key>(key: Row, now: number) => ({ ...key, state: stateOf(key, now) })

function stateOf({ revoked_at, expires_at }: Key, now: number): 'alive' | 'ending' | 'ended' {
  if (revoked_at !== null || (expires_at !== null && expires_at <= now)) return 'ended'
  return expires_at === null ? 'alive' : 'ending'
}
