/** The App Store Connect API: apps, teams, subscriptions, versions, prices and sales reports. */
import type * as v from 'valibot'
import { type CallerOptions, openCaller } from './caller.ts'
import { openConnectBudget } from './connect_budget.ts'
import { connectFault, type Subject } from './connect_faults.ts'
import {
  type AppleApp,
  type AppleSubscription,
  ListedApp,
  ListedBundleId,
  ListedGroup,
  ListedSubscription,
  subscriptionOf,
} from './connect_schemas.ts'
import type { ApiRequest, ApiResponse } from './http_client.ts'
import type { ApiKey } from './keys.ts'
import { parseResponse } from './messages.ts'
import { type Page, pageOf, readAllPages } from './paging.ts'
import { openReleases } from './releases.ts'
import {
  type ReportRequest,
  type ReportResult,
  reportResultOf,
  reportUrl,
  requiredVersion,
} from './sales_reports.ts'
import { openTokens } from './tokens.ts'

export type { AppleApp, AppleSubscription } from './connect_schemas.ts'
export type { ApplePrice, AppleVersion } from './releases.ts'
export type { ReportKind, ReportResult } from './sales_reports.ts'

/** `host` is an origin, without a trailing slash. Omitted options use the system’s timers and randomness. */
export type ConnectOptions = CallerOptions & { key: ApiKey; host: string }
/** `urgent`: send even if little of the hourly budget remains, because a person waits. */
type Urgency = { urgent?: boolean }
export type ConnectApi = ReturnType<typeof openConnectApi>

const MAX_LIST_BYTES = 8 * 1_048_576
const MAX_REPORT_BYTES = 64 * 1_048_576

/**
 * Opens the App Store Connect API with one key. Every call throws AppleFault, `unavailable` only after several retries.
 * A call that would leave less than a tenth of the key's hourly limit is `rate_limited` without being sent, unless the
 * call is urgent.
 */
export function openConnectApi(options: ConnectOptions) {
  const { key, clock, host } = options
  const caller = openCaller({ ...options, tokens: openTokens(key, { clock }) })
  const budget = openConnectBudget(clock)
  const times = () => ({ now: clock(), resumes_at: budget.resumesAt() })
  const faultIn = (received: ApiResponse, subject: Subject) => connectFault(received, subject, times())

  function sendRequest(
    sent: ApiRequest,
    subject: Subject,
    { urgent = false }: Urgency,
    isExpected: (received: ApiResponse) => boolean,
  ) {
    const isFine = (received: ApiResponse) => received.status === 200 || isExpected(received)
    const faultOf = (received: ApiResponse) => (isFine(received) ? null : faultIn(received, subject))
    return caller.send(sent, faultOf, (attempt) => budget.spend(attempt, urgent))
  }

  const list = <T>(path: string, item: v.GenericSchema<unknown, T>, subject: Subject, urgency: Urgency) =>
    readPages(path, pageOf(item), subject, urgency)

  /** All items of a list, in pages of the largest size. */
  function readPages<T>(path: string, Page: Page<T>, subject: Subject, urgency: Urgency = {}) {
    return readAllPages(new URL(path, host), async (url) => {
      const sent: ApiRequest = { method: 'GET', url, accept: 'application/json', maxBytes: MAX_LIST_BYTES }
      return parseResponse(Page, await sendRequest(sent, subject, urgency, () => false), url.pathname)
    })
  }

  /** Every app that the key can read. */
  function apps(urgency: Urgency = {}): Promise<AppleApp[]> {
    return list('/v1/apps?limit=200&fields[apps]=name,bundleId,sku', ListedApp, 'apps', urgency)
  }

  /** The team id of each bundle id that has one. Many keys lack this permission: `forbidden`. */
  async function teams(urgency: Urgency = {}): Promise<Map<string, string>> {
    const fields = 'limit=200&fields[bundleIds]=identifier,seedId'
    const listing = await list(`/v1/bundleIds?${fields}`, ListedBundleId, 'teams', urgency)
    return new Map(
      listing.flatMap(({ attributes: { identifier, seedId } }) =>
        seedId === null ? [] : [[identifier, seedId]],
      ),
    )
  }

  /** Every auto-renewable subscription of an app, with its group. Many keys lack this permission: `forbidden`. */
  const subscriptions = (apple_id: number, urgency: Urgency = {}) =>
    subscriptionsOf(apple_id, (path, item) => list(path, item, 'subscriptions', urgency))

  /**
   * One day's report of one kind. If Apple requires another version of the report, requests that version once. The
   * result names the version that Apple returned.
   */
  async function report(request: ReportRequest & Urgency): Promise<ReportResult> {
    const common = { method: 'GET', accept: 'application/a-gzip', maxBytes: MAX_REPORT_BYTES } as const
    const requestReport = async (version: string | null) => {
      const sent: ApiRequest = { ...common, url: reportUrl(host, { ...request, version }) }
      const isExpected = (received: ApiResponse) =>
        reportResultOf(received, version) !== null || requiredVersion(received) !== null
      return sendRequest(sent, 'reports', request, isExpected)
    }
    let { version } = request
    let received = await requestReport(version)
    const demanded = requiredVersion(received)
    if (demanded !== null && demanded !== version) {
      version = demanded
      received = await requestReport(version)
    }
    const result = reportResultOf(received, version)
    if (result === null) throw faultIn(received, 'reports')
    return result
  }

  return {
    apps,
    teams,
    subscriptions,
    ...openReleases(readPages),
    report,
    budget: budget.last,
    close: caller.close,
  }
}

type List = <T>(path: string, item: v.GenericSchema<unknown, T>) => Promise<T[]>

async function subscriptionsOf(apple_id: number, list: List): Promise<AppleSubscription[]> {
  const path = `/v1/apps/${apple_id}/subscriptionGroups?limit=200&fields[subscriptionGroups]=referenceName`
  const all: AppleSubscription[] = []
  for (const group of await list(path, ListedGroup)) {
    const listPath = `/v1/subscriptionGroups/${encodeURIComponent(group.id)}/subscriptions`
    const fields = 'limit=200&fields[subscriptions]=name,productId,subscriptionPeriod,groupLevel'
    const listing = await list(`${listPath}?${fields}`, ListedSubscription)
    all.push(...listing.map((subscription) => subscriptionOf(group, subscription)))
  }
  return all
}
