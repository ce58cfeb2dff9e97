/** Reads a key that the owner enters in the dashboard, and tries it with Apple as `windfall connect` does. */
import * as v from 'valibot'
import type { AppleApp } from '../../../apple/api/connect.ts'
import type { AppleHosts } from '../../../apple/api/hosts.ts'
import { type ApiKey, problemOfKey } from '../../../apple/api/keys.ts'
import type { AppleKeyKind } from '../../../apps/stored_keys.ts'
import type { Clock } from '../../../clock.ts'
import {
  faultOfIssuer,
  faultOfKeyId,
  faultOfPurchaseIssuer,
  isSameKey,
  KEY_ID_NEEDED,
  SAME_KEY,
} from '../../../doctor/apple/key_answers.ts'
import {
  type AppleQueryOptions,
  type KeyProblem,
  problemOfPurchaseKey,
  tryConnectKey,
  UNTRIED,
} from '../../../doctor/apple/key_checks.ts'
import { Refusal } from '../../../errors.ts'
import { invalid } from '../../../http/parse.ts'

/** Apple's keys have less than 300 characters. */
const MAX_KEY_LENGTH = 10_000
/** A person waits, so a host that does not answer is given up sooner than by a job. */
const TIMEOUT_MS = 10_000

export const organization_id = v.optional(
  v.pipe(v.string(), v.description('Required if there are several organizations')),
)

export const KeyBody = v.strictObject({
  organization_id,
  private_key: v.pipe(
    v.string(),
    v.maxLength(MAX_KEY_LENGTH, 'is too long for a key: a .p8 file from Apple has less than 1 KB'),
    v.description('The text of the .p8 file'),
  ),
  key_id: v.pipe(v.string(), v.maxLength(100), v.description('The id in the name of the file')),
  issuer_id: v.optional(
    v.pipe(v.nullable(v.pipe(v.string(), v.maxLength(100))), v.description('null for an individual key')),
    null,
  ),
})

/** How the routes ask Apple. `wait` pauses between two attempts. */
export type AppleDeps = { clock: Clock; hosts: AppleHosts; wait: (ms: number) => Promise<void> }

export const queryOptions = ({ clock, hosts, wait }: AppleDeps): AppleQueryOptions => ({
  clock,
  hosts,
  wait,
  timeoutMs: TIMEOUT_MS,
})

/**
 * The entered key. `connect` is the organization's App Store Connect key, which is never an In-App Purchase key.
 *
 * @throws Refusal 400 `invalid_request` with each fault that can be found without Apple.
 */
export function enteredKey(
  kind: AppleKeyKind,
  body: v.InferOutput<typeof KeyBody>,
  connect: ApiKey | null,
): ApiKey {
  const { private_key } = body
  const key_id = body.key_id.trim()
  const issuer_id = body.issuer_id?.trim() || null
  const isRepeated = kind === 'purchases' && connect !== null && isSameKey(private_key, connect.private_key)
  const messages = {
    private_key: problemOfKey(private_key) ?? (isRepeated ? SAME_KEY : null),
    key_id: key_id === '' ? KEY_ID_NEEDED : faultOfKeyId(key_id),
    issuer_id: (kind === 'connect' ? faultOfIssuer : faultOfPurchaseIssuer)(issuer_id),
  }
  const faults = Object.entries(messages).flatMap(([path, message]) =>
    message === null ? [] : [{ path, message }],
  )
  if (faults.length > 0) throw invalid(faults)
  return { key_id, issuer_id, private_key }
}

/**
 * Tries a key. Returns the apps that Apple lists for an App Store Connect key, and none for an In-App Purchase key.
 * `bundles` are the apps of the organization.
 *
 * @throws Refusal 409 `no_app` without an app to try an In-App Purchase key with; 409 `refused_by_apple`; 502 `apple`.
 */
export async function appsOfTriedKey(
  kind: AppleKeyKind,
  key: ApiKey,
  apple: AppleQueryOptions,
  bundles: readonly string[],
): Promise<AppleApp[]> {
  if (kind === 'connect') {
    const apps = await tryConnectKey(key, apple, bundles)
    if ('message' in apps) throw refusalOf(apps)
    return apps
  }
  if (bundles.length === 0)
    throw new Refusal(409, 'no_app', `${UNTRIED} Enter the App Store Connect API key first, or add an app.`)
  const problem = await problemOfPurchaseKey(key, apple, bundles)
  if (problem !== null) throw refusalOf(problem)
  return []
}

/** The refusal of what Apple does not accept, or could not be asked about. */
export const refusalOf = ({ message, isRefused }: KeyProblem): Refusal =>
  isRefused ? new Refusal(409, 'refused_by_apple', message) : new Refusal(502, 'apple', message)
