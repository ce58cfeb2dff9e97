/** Determines the app that an SDK call concerns, and the credential that the call carries. */
import type { App, Apps } from '../apps/apps.ts'
import type { Keys } from '../apps/keys.ts'
import type { Organization, Organizations } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import { type AttestedOnly, attestedOnlyUntil } from './devices/attested_only.ts'
import { DEVICE_TOKEN_PREFIX, type Device, type Devices, tokenEnded } from './devices/devices.ts'

export type Credential = 'publishable' | 'secret' | 'device' | 'none'

/** `device` is the caller with the credential `device`; null for the others. */
export type Caller = { app: App; credential: Credential; device: Device | null }

/** Whether the credential proves the caller. A publishable key does not: every copy of the app contains it. */
export const isProved = (credential: Credential): boolean =>
  credential === 'secret' || credential === 'device'

/** The identity that a call claims. `authorization` is the unparsed header. */
export type Claim = { authorization: string | null; bundle_id: string; isAndroid: boolean }

type Deps = {
  apps: Apps
  keys: Keys
  organizations: Organizations
  devices: Pick<Devices, 'findByToken'>
  attestedOnly: Pick<AttestedOnly, 'untilOf'>
}

export type Callers = ReturnType<typeof openCallers>

/** Opens the resolution of callers. */
export function openCallers({ apps, keys, organizations, devices, attestedOnly }: Deps) {
  /**
   * Finds the app that a call concerns and the credential that the call carries.
   *
   * @throws Refusal 401 if the credential is wrong, or missing where one is required; 403 if the key's organization
   * does not have the app, or if the device token is one of another app; for a call without a key, 404 if no app
   * matches and 409 if several match; 429 `attested_only` while the organization accepts only proved calls.
   */
  function resolve(claim: Claim): Caller {
    const token = bearerTokenOf(claim.authorization)
    const isDevice = token?.startsWith(DEVICE_TOKEN_PREFIX) ?? false
    const caller =
      token === null
        ? callerWithoutKey(apps, claim)
        : isDevice
          ? callerWithDevice(token, claim)
          : callerWithKey(token, claim)
    const organization = organizations.get(caller.app.organization_id)
    if (organization) requireCredential(organization, caller.credential, isDevice)
    const until_at = isProved(caller.credential) ? null : attestedOnly.untilOf(caller.app.organization_id)
    // Only this answer lets a device whose token has ended enrol again.
    if (until_at !== null) throw isDevice ? tokenEnded() : attestedOnlyUntil(until_at)
    return caller
  }

  /**
   * Finds the app that an enrolment concerns. A key chooses the organization, but none is required.
   *
   * @throws Refusal like `resolve`.
   */
  function appOf(claim: Claim): App {
    const token = bearerTokenOf(claim.authorization)
    const isKey = token !== null && !token.startsWith(DEVICE_TOKEN_PREFIX)
    return (isKey ? callerWithKey(token, claim) : callerWithoutKey(apps, claim)).app
  }

  /** An unknown token counts as no credential: where none is required, the call is accepted as unproved. */
  function callerWithDevice(token: string, claim: Claim): Caller {
    const device = devices.findByToken(token)
    const app = device && apps.get(device.app_id)
    if (!app || app.gone_at !== null) return callerWithoutKey(apps, claim)
    if (app.bundle_id === claim.bundle_id) return { app, credential: 'device', device }
    throw new Refusal(403, 'token_of_another_app', `the device token is one of ${app.bundle_id}`)
  }

  function callerWithKey(token: string, claim: Claim): Caller {
    const key = keys.findByToken(token)
    if (!key) throw new Refusal(401, 'invalid_key', invalidKeyText(token))
    const [app] = appsOf(apps, claim, key.organization_id)
    if (app) return { app, credential: key.kind, device: null }
    throw new Refusal(
      403,
      'app_not_in_organization',
      `${notConnectedText(claim)} in the organization of this key`,
    )
  }

  return { resolve, appOf }
}

function callerWithoutKey(apps: Apps, claim: Claim): Caller {
  const [app, another] = appsOf(apps, claim)
  if (!app) throw new Refusal(404, 'unknown_app', notConnectedText(claim))
  if (another) {
    throw new Refusal(
      409,
      'ambiguous_app',
      `several organizations have ${claim.bundle_id}: send a key of the right organization`,
    )
  }
  return { app, credential: 'none', device: null }
}

/** Finds an Android app by its package, else by its bundle id: the two are often the same. */
function appsOf(
  apps: Apps,
  { isAndroid, bundle_id }: Claim,
  organization_id: string | null = null,
): readonly App[] {
  const inOrganization = (found: readonly App[]) =>
    organization_id === null ? found : found.filter((app) => app.organization_id === organization_id)
  const byPackage = isAndroid ? inOrganization(apps.byAndroidPackage(bundle_id)) : []
  return byPackage.length > 0 ? byPackage : inOrganization(apps.byBundle(bundle_id))
}

function notConnectedText({ isAndroid, bundle_id }: Claim): string {
  return `no app with the ${isAndroid ? 'Android package or bundle id' : 'bundle id'} ${bundle_id} is connected`
}

/** An attested device is accepted where a key is: its app proved more than the key that every copy contains. */
function requireCredential({ sdk_auth }: Organization, credential: Credential, isDeviceToken: boolean): void {
  if (sdk_auth === 'any' || isProved(credential)) return
  if (sdk_auth === 'key' && credential === 'publishable') return
  if (isDeviceToken) throw tokenEnded()
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
