/** Requests for read tokens and share links: their access scope and expiry. */
import * as v from 'valibot'
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { resolveApps } from './scope.ts'
import type { AccessScope } from './tokens.ts'

const MAX_APPS = 100
const MAX_YEARS = 100
/** The longest validity of a token or share link that expires. */
export const MAX_VALIDITY_MS = MAX_YEARS * 365.25 * 86_400_000
export const VALIDITY_ERROR = `must be at most ${MAX_YEARS} years ahead; omit it for no expiry`
const text = (max: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty('must not be empty'),
    v.maxLength(max, `must have at most ${max} characters`),
  )

/** The request fields that tokens and links share. */
export const GrantRequest = {
  label: v.pipe(text(100), v.description('A name that helps you recognize it')),
  organization_id: v.optional(
    v.pipe(v.nullable(text(100)), v.description('The id of an organization; null for all')),
    null,
  ),
  apps: v.optional(
    v.pipe(
      v.nullable(
        v.pipe(
          v.array(text(200)),
          v.minLength(1, 'must name at least one'),
          v.maxLength(MAX_APPS, `must name at most ${MAX_APPS}`),
        ),
      ),
      v.description('App ids or bundle ids; null for all apps, including future ones'),
    ),
    null,
  ),
  expires_at: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.number(), v.safeInteger('must be a whole number'))),
      v.description('When it expires, in milliseconds since 1970, at most 100 years ahead; null: never'),
    ),
    null,
  ),
}
type RequestedGrant = { organization_id: string | null; apps: string[] | null; expires_at: number | null }

/** The response fields that tokens and links share. */
export const GRANT_FIELDS = {
  id: v.string(),
  label: v.string(),
  organization_id: v.nullable(v.string()),
  apps: v.nullable(v.array(v.string())),
  created_at: v.number(),
  expires_at: v.nullable(v.number()),
  revoked_at: v.nullable(v.number()),
}

type Deps = { organizations: Organizations; apps: Apps; clock: Clock }

/**
 * The requested access scope, with bundle ids resolved to app ids.
 *
 * @throws Refusal 404 `unknown_organization` or `unknown_app`; 400 `invalid_request` if `expires_at` is in the past or
 * more than 100 years ahead.
 */
export function resolveGrant({ organizations, apps, clock }: Deps, request: RequestedGrant): AccessScope {
  const { organization_id, expires_at } = request
  if (organization_id !== null && !organizations.list().some(({ id }) => id === organization_id))
    throw new Refusal(404, 'unknown_organization', `there is no organization with the id ${organization_id}`)
  const message = expires_at === null ? null : expiryError(expires_at, clock())
  if (message !== null) {
    throw new Refusal(400, 'invalid_request', `expires_at: ${message}`, {
      errors: [{ path: 'expires_at', message }],
    })
  }
  const organizationScope = { organization_id, apps: null }
  const appIds = request.apps?.flatMap((name) => resolveApps(name, organizationScope, apps)) ?? null
  return { organization_id, apps: appIds && [...new Set(appIds)] }
}

function expiryError(expires_at: number, now: number): string | null {
  if (expires_at <= now) return 'must be in the future'
  return expires_at > now + MAX_VALIDITY_MS ? VALIDITY_ERROR : null
}
