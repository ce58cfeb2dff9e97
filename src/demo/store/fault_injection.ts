/** Fault injection for the simulated App Store, and the apps that it lists. */

import type { PriceChange } from './releases.ts'

/** An app as App Store Connect lists it. Tests add, rename and remove apps. */
export type ListedApp = { apple_id: number; bundle_id: string; name: string; sku: string; team_id: string }

export type ReportType = 'SALES' | 'SUBSCRIPTION' | 'SUBSCRIPTION_EVENT' | 'SUBSCRIBER'

/** The faults of the simulated store. Each can be changed at any time and applies from the next request on. */
export type StoreFaults = {
  /** The apps that GET /v1/apps lists. By default, every simulated app. */
  apps: ListedApp[]
  /** The latest version of each report. The store provides only this version. */
  versions: Record<ReportType, string>
  /** A version that the store refuses, even if it is the latest. The version after it is then the latest. */
  refused_version: string | null
  /** A request for an old version is answered with “no sales” instead of a refusal, as in March 2023. */
  old_versions_have_no_sales: boolean
  /** The number of next requests, to any API, that are answered with 503. */
  unavailable_requests: number
  /**
   * Rate limits. `connect`: requests per rolling hour and key, instead of 3500. `server`: requests per rolling hour,
   * app and endpoint, instead of Apple's limit. `until`: before this instant (ms), every request is answered with 429.
   */
  rate_limit: { connect?: number; server?: number; until?: number } | null
  /** The role of the App Store Connect key. A `developer` key has no access to reports. */
  connect_key: 'admin' | 'developer' | 'revoked'
  purchase_key: 'good' | 'revoked'
  /** The error code of every response of the App Store Server API. Its first three digits are the HTTP status. */
  server_error: number | null
  /** An agreement is not signed: App Store Connect answers every request with 403. */
  missing_agreement: boolean
  /** Prefixes of paths that App Store Connect answers with 403. */
  forbidden: string[]
  /** Changes of prices that App Store Connect lists, oldest first for each product. Purchases do not follow them. */
  price_changes: PriceChange[]
  /** The delay of reports after their usual time, in hours. */
  report_delay_hours: number
  /** The maximum number of items on a page of App Store Connect's lists, also if a request has a higher limit. */
  page_size: number | null
  /** The validity in milliseconds of a pagination token of the notification history. */
  page_token_life_ms: number
  /** The URL that test notifications are sent to; null if App Store Connect has none. */
  notification_url: string | null
  /** The delivery result of test notifications. If it is not null, test notifications are not sent. */
  test_result: string | null
}

export function noFaults(apps: readonly ListedApp[]): StoreFaults {
  return {
    apps: apps.map(({ apple_id, bundle_id, name, sku, team_id }) => ({
      apple_id,
      bundle_id,
      name,
      sku,
      team_id,
    })),
    versions: { SALES: '1_0', SUBSCRIPTION: '1_4', SUBSCRIPTION_EVENT: '1_4', SUBSCRIBER: '1_4' },
    refused_version: null,
    old_versions_have_no_sales: false,
    unavailable_requests: 0,
    rate_limit: null,
    connect_key: 'admin',
    purchase_key: 'good',
    server_error: null,
    missing_agreement: false,
    forbidden: [],
    price_changes: [],
    report_delay_hours: 0,
    page_size: null,
    page_token_life_ms: 5 * 60_000,
    notification_url: null,
    test_result: null,
  }
}
