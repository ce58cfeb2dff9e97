/** What may be asked: by the owner alone: the keys that apps and the backend call with. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import type { Key, Keys } from '../../apps/keys.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { readJson } from '../../http/body/body.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import { openMeant } from '../lookup.ts'
import { LARGEST_WISH, OWNER_REFUSED, OWNERS } from '../route_defaults.ts'

const HOUR_MS = 3_600_000
const A_WEEK = 7 * 24
const LONGEST_OVERLAP = 720

const CreateBody = v.strictObject({
  organization_id: v.optional(v.pipe(v.string(), v.description('Needed where there are several'))),
  kind: v.picklist(['publishable', 'secret']),
  label: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(100)),
})
const RotateBody = v.strictObject({
  overlap_hours: v.optional(
    v.pipe(
      v.number(),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(LONGEST_OVERLAP, `must be at most ${LONGEST_OVERLAP}`),
      v.description('How long the old key goes on'),
    ),
    A_WEEK,
  ),
})

const at = v.nullable(v.number())
export const KeyAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  kind: v.picklist(['publishable', 'secret']),
  token: v.pipe(v.nullable(v.string()), v.description('Of a secret key only in the answer that makes it')),
  hint: v.string(),
  label: v.string(),
  source: v.string(),
  state: v.pipe(v.picklist(['alive', 'ending', 'ended']), v.description('ending: alive, with an end')),
  created_at: v.number(),
  expires_at: at,
  revoked_at: at,
})
export const RotatedAnswer = v.object({
  ...KeyAnswer.entries,
  replaces: v.string(),
  old_expires_at: v.number(),
})

type Deps = { clock: Clock; keys: Keys; organizations: Organizations; audit: Audit; readers: Readers }

export function keyRoutes({ clock, keys, organizations, audit, readers }: Deps): Route[] {
  const meant = openMeant(organizations)

  const told = <Row extends Key>(key: Row) => ({ ...key, state: stateOf(key, clock()) })

  const demandFor = (kind: Key['kind']) => (kind === 'secret' ? readers.freshOwner : readers.owner)

  function list(event: H3Event) {
    readers.owner(event)
    return { keys: keys.list(null).map(told) }
  }

  async function create(event: H3Event) {
    readers.owner(event)
    const { organization_id, kind, label } = parse(CreateBody, await readJson(event, LARGEST_WISH))
    const key = await readers.commitAs(event, demandFor(kind), (who) => {
      const made = keys.create(meant(organization_id).id, kind, label, { source: 'dashboard' })
      audit.note({ ...who, action: 'key.made', subject: made.id, detail: `${kind}: ${label}` })
      return made
    })
    event.res.status = 201
    return told(key)
  }

  async function rotate(event: H3Event) {
    readers.owner(event)
    const id = event.context.params?.id ?? ''
    const { overlap_hours } = parse(RotateBody, await readJson(event, LARGEST_WISH))
    const key = await readers.commitAs(event, demandFor(named(id).kind), (who) => {
      const successor = keys.rotate(id, overlap_hours * HOUR_MS, 'dashboard')
      audit.note({ ...who, action: 'key.rotated', subject: id, detail: successor.id })
      return successor
    })
    event.res.status = 201
    return told(key)
  }

  async function revoke(event: H3Event) {
    readers.owner(event)
    const id = event.context.params?.id ?? ''
    const key = await readers.commitAs(event, readers.owner, (who) => {
      const ended = keys.revoke(id)
      audit.note({ ...who, action: 'key.revoked', subject: id })
      return ended
    })
    return told(key)
  }

  function named(id: string): Key {
    const found = keys.list(null).find((key) => key.id === id)
    if (found) return found
    throw new Refusal(404, 'unknown_key', `there is no key ${id.slice(0, 40)}`)
  }

  return routesFor({ list, create, rotate, revoke })
}

function stateOf({ revoked_at, expires_at }: Key, now: number): 'alive' | 'ending' | 'ended' {
  if (revoked_at !== null || (expires_at !== null && expires_at <= now)) return 'ended'
  return expires_at === null ? 'alive' : 'ending'
}

const FRESH_REFUSED = {
  ...OWNER_REFUSED,
  403: { description: 'not_for_guests, cross_site, reauthentication_required' },
}
const ENDED = { 404: { description: 'unknown_key' }, 409: { description: 'declared_in_config, key_ended' } }

function routesFor(handlers: Record<'list' | 'create' | 'rotate' | 'revoke', Route['handler']>): Route[] {
  return [
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/keys',
      summary: 'The SDK keys, ended ones too; publishable ones can be read again',
      answers: {
        200: { description: 'Oldest first', schema: v.object({ keys: v.array(KeyAnswer) }) },
        ...OWNER_REFUSED,
      },
      handler: handlers.list,
    },
    {
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/keys',
      summary: 'Makes a key; the text of a secret one is told here alone',
      body: CreateBody,
      answers: {
        201: { description: 'The key', schema: KeyAnswer },
        400: { description: 'invalid_json, invalid_request, organization_needed' },
        ...FRESH_REFUSED,
        404: { description: 'unknown_organization' },
      },
      handler: handlers.create,
    },
    {
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/keys/:id/rotate',
      summary: 'Makes a successor; the old key goes on for a while',
      body: RotateBody,
      answers: {
        201: { description: 'The successor', schema: RotatedAnswer },
        400: { description: 'invalid_json, invalid_request' },
        ...FRESH_REFUSED,
        ...ENDED,
      },
      handler: handlers.rotate,
    },
    {
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/keys/:id',
      summary: 'Ends a key at once',
      answers: { 200: { description: 'The key, ended', schema: KeyAnswer }, ...OWNER_REFUSED, ...ENDED },
      handler: handlers.revoke,
    },
  ]
}
