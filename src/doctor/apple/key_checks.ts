/** Tests whether Apple accepts a key, for `windfall connect`, the dashboard and `windfall doctor`. */
import { type AppleApp, type ConnectApi, openConnectApi } from '../../apple/api/connect.ts'
import { AppleFault, type FaultKind } from '../../apple/api/faults.ts'
import type { AppleHosts } from '../../apple/api/hosts.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { openServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import { addDays, pacificDayOf } from '../../days.ts'

/** Apple's hosts, the clock, and how to wait between two attempts. `timeoutMs`: milliseconds without data. */
export type AppleQueryOptions = {
  hosts: AppleHosts
  clock: Clock
  wait: (ms: number) => Promise<void>
  timeoutMs?: number
}

/** Why a key cannot be used, for a person. `isRefused`: Apple answered that it does not accept this key. */
export type KeyProblem = { message: string; isRefused: boolean }

const HOUR_MS = 3_600_000
/** An app that was never on sale is known in the sandbox only. */
const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']
/** A key works for all apps of a team. If Apple does not know an app, the key is tested with the next app. */
const MAX_APPS_TRIED = 3

/** Runs `use` with the App Store Connect API under `key`, and closes the API afterwards. */
async function withConnect<T>(
  key: ApiKey,
  { hosts, clock, wait, timeoutMs }: AppleQueryOptions,
  use: (api: ConnectApi) => Promise<T>,
): Promise<T> {
  const api = openConnectApi({ key, clock, host: hosts.connect, wait, timeoutMs })
  try {
    return await use(api)
  } finally {
    await api.close()
  }
}

/** The result of a request to Apple, or the fault that Apple returned. */
export async function faultOrResult<T>(pending: Promise<T>): Promise<T | AppleFault> {
  try {
    return await pending
  } catch (error) {
    if (error instanceof AppleFault) return error
    throw error
  }
}

/** Every app that an App Store Connect key can access; the problem if Apple does not list them. */
export async function tryConnectKey(
  key: ApiKey,
  apple: AppleQueryOptions,
  bundles: readonly string[],
): Promise<AppleApp[] | KeyProblem> {
  const apps = await faultOrResult(withConnect(key, apple, (api) => api.apps({ urgent: true })))
  if (!(apps instanceof AppleFault)) return apps
  const isOtherKind =
    apps.kind === 'unauthorized' && (await faultOfPurchaseKey(key, apple, bundles)) === 'none'
  return isOtherKind ? { message: SWAPPED.connect, isRefused: true } : problemOf(apps)
}

/** Apple's fault if it refuses the reports of a vendor number to this key; null if it provides them. */
export async function faultOfVendor(
  key: ApiKey,
  apple: AppleQueryOptions,
  vendor_number: string,
): Promise<AppleFault | null> {
  // The day needs no report, because Apple checks access before it looks for the report.
  const day = addDays(pacificDayOf(apple.clock()), -3)
  const reportRequest = { kind: 'sales', vendor_number, day, version: null, urgent: true } as const
  const answer = await faultOrResult(withConnect(key, apple, (api) => api.report(reportRequest)))
  return answer instanceof AppleFault ? answer : null
}

/** Tests an In-App Purchase key with one of the team's apps. Returns the problem; null if Apple accepts the key. */
export async function problemOfPurchaseKey(
  key: ApiKey,
  apple: AppleQueryOptions,
  bundles: readonly string[],
): Promise<KeyProblem | null> {
  const fault = await faultOfPurchaseKey(key, apple, bundles)
  if (fault === 'none') return null
  if (fault === 'untried') return { message: UNTRIED, isRefused: false }
  const isOtherKind =
    fault.kind === 'unauthorized' && !((await faultOrResult(listApps(key, apple))) instanceof AppleFault)
  return isOtherKind ? { message: SWAPPED.purchase, isRefused: true } : problemOf(fault)
}

/** Said of an In-App Purchase key before there is an app. */
export const UNTRIED = 'the key cannot be tested: there is no app to test it with.'

/** The problem that a fault is for a key. */
export const problemOf = ({ kind, message }: AppleFault): KeyProblem => ({
  message,
  isRefused: !UNANSWERED.has(kind),
})

/** Faults that say nothing about the key. */
const UNANSWERED: ReadonlySet<FaultKind> = new Set(['unavailable', 'rate_limited', 'unreadable'])

const listApps = (key: ApiKey, apple: AppleQueryOptions) =>
  withConnect(key, apple, (api) => api.apps({ urgent: true }))

const SWAPPED = {
  connect:
    'Apple refused the key (401) but accepts it as an In-App Purchase key: the two keys are swapped. Create the App Store Connect API key under Users and Access, Integrations, App Store Connect API; its file is named AuthKey_….p8.',
  purchase:
    'Apple refused the key (401) but accepts it as an App Store Connect API key: the two keys are swapped. Create the In-App Purchase key under Users and Access, Integrations, In-App Purchase; its file is named SubscriptionKey_….p8.',
}

async function faultOfPurchaseKey(
  key: ApiKey,
  apple: AppleQueryOptions,
  bundles: readonly string[],
): Promise<AppleFault | 'none' | 'untried'> {
  let lastFault: AppleFault | 'untried' = 'untried'
  for (const bundle_id of bundles.slice(0, MAX_APPS_TRIED)) {
    const fault = await faultForApp(key, apple, bundle_id)
    if (fault === null) return 'none'
    if (fault.status !== 404) return fault
    lastFault = fault
  }
  return lastFault
}

/** Fetches an app's notifications of the last hour. Returns the fault; null if one of the environments answers. */
async function faultForApp(
  key: ApiKey,
  { hosts, clock, wait, timeoutMs }: AppleQueryOptions,
  bundle_id: string,
): Promise<AppleFault | null> {
  const api = openServerApi({ key, bundle_id, clock, hosts: hosts.server, wait, timeoutMs })
  const until = clock()
  let lastFault: AppleFault | null = null
  try {
    for (const environment of ENVIRONMENTS) {
      const window = { from: until - HOUR_MS, until, page: null }
      const answer = await faultOrResult(api.notificationHistory(environment, window))
      if (!(answer instanceof AppleFault)) return null
      if (answer.status !== 404) return answer
      lastFault = answer
    }
    return lastFault
  } finally {
    await api.close()
  }
}
