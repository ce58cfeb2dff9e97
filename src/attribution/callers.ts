/** Determines the app that an SDK call concerns, and the credential that the call carries. */
import type { App, Apps } from '../apps/apps.ts'
import type { Keys } from '../apps/keys.ts'
import type { Organization, Organizations } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'

export type Credential = 'publishable' | 'secret' | 'device' | 'none'

export type Caller = { app: App; credential: Credential }

/** Whether the credential proves the caller. A publishable key does not: every copy of the app contains it. */
export const isProved = (credential: Credential): boolean =>
  credential === 'secret' || credential === 'device'

/** The identity that a call claims. `authorization` is the unparsed header. */
export type Claim = { authorization: string | null; bundle_id: string; isAndroid: boolean }

type Deps = { apps: Apps; keys: Keys; organizations: Organizations }

export type Callers = ReturnType<typeof openCallers>

/** Opens the resolution of callers. */
export function openCallers({ apps, keys, organizations }: Deps) {
  /**
   * Finds the app that a call concerns and the credential that the call carries.
   *
   * @throws Refusal 401 if the credential is wrong, or missing where one is required; 403 if the key's organization
   * does not have the app; for a call without a key, 404 if no app matches and 409 if several match.
   */
  function resolve(claim: Claim): Caller {
    const token = bearerTokenOf(claim.authorization)
    const caller =
      token === null || token.startsWith('dt_') ? callerWithoutKey(claim) : callerWithKey(token, claim)
    const organization = organizations.get(caller.app.organization_id)
    if (organization) requireCredential(organization, caller.credential)
    return caller
  }

  function callerWithKey(token: string, claim: Claim): Caller {
    const key = keys.findByToken(token)
    if (!key) throw new Refusal(401, 'invalid_key', invalidKeyText(token))
    const [app] = appsOf(claim, key.organization_id)
    if (app) return { app, credential: key.kind }
    throw new Refusal(
      403,
      'app_not_in_organization',
      `${notConnectedText(claim)} in the organization of this key`,
    )
  }

  function callerWithoutKey(claim: Claim): Caller {
    const [app, another] = appsOf(claim)
    if (!app) throw new Refusal(404, 'unknown_app', notConnectedText(claim))
    if (another) {
      throw new Refusal(
        409,
        'ambiguous_app',
        `several organizations have ${claim.bundle_id}: send a key of the right organization`,
      )
    }
    return { app, credential: 'none' }
  }

  /** Finds an Android app by its package, else by its bundle id: the two are often the same. */
  function appsOf({ isAndroid, bundle_id }: Claim, organization_id: string | null = null): readonly App[] {
    const inOrganization = (found: readonly App[]) =>
      organization_id === null ? found : found.filter((app) => app.organization_id === organization_id)
    const byPackage = isAndroid ? inOrganization(apps.byAndroidPackage(bundle_id)) : []
    return byPackage.length > 0 ? byPackage : inOrganization(apps.byBundle(bundle_id))
  }

  return { resolve }
}

function notConnectedText({ isAndroid, bundle_id }: Claim): string {
  return `no app with the ${isAndroid ? 'Android package or bundle id' : 'bundle id'} ${bundle_id} is connected`
}

function requireCredential(organization: Organization, credential: Credential): void {
  const { sdk_auth } = organization
  const isEnough =
    credential === 'secret' ||
    sdk_auth === 'any' ||
    credential === (sdk_auth === 'key' ? 'publishable' : 'device')
  if (isEnough) return
  const requirement = sdk_auth === 'key' ? 'a key (Authorization: Bearer pk_live_…)' : 'an attested device'
  throw new Refusal(401, 'credential_required', `this organization requires ${requirement}`)
}

function bearerTokenOf(authorization: string | null): string | null {
  if (authorization === null) return null
  const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? []
  if (!token) throw new Refusal(401, 'invalid_key', 'the Authorization header must be `Bearer` and a key')
  return token
}

const invalidKeyText = (token: string): string =>
  token.startsWith('wf_')
    ? 'this is a read token; send an SDK key (pk_live_… or sk_live_…), which `windfall keys list` shows'
    : 'the key is unknown, revoked or expired'
