/** Fault injection for the simulated App Store, and the apps that it lists. */

/** An app as App Store Connect lists it. Tests add some, rename them, take them away. */
export type ListedApp = { apple_id: number; bundle_id: string; name: string; sku: string; team_id: string }

export type ReportType = 'SALES' | 'SUBSCRIPTION' | 'SUBSCRIPTION_EVENT' | 'SUBSCRIBER'

/** Every switch may be turned at any time, and holds from the next request on. */
export type StoreFaults = {
  /** What GET /v1/apps lists; at first every simulated app. */
  apps: ListedApp[]
  /** The version of each report that is the latest, and the only one that is given. */
  versions: Record<ReportType, string>
  /** A version that is refused, even where it is the latest: then the one after it is. */
  refuse_version: string | null
  /** A version that is not the latest gets “no sales” instead of a refusal, as in March 2023. */
  retired_says_no_sales: boolean
  /** So many requests from now on, to any API, are answered with 503. */
  unavailable: number
  /**
   * `connect`: requests per rolling hour and key instead of 3500. `server`: requests per rolling hour, app and kind
   * of question instead of Apple's. `until`: everything is answered with 429 before that instant.
   */
  rate_limit: { connect?: number; server?: number; until?: number } | null
  /** What App Store Connect makes of its key: a developer's may not read reports. */
  connect_key: 'admin' | 'developer' | 'revoked'
  purchase_key: 'good' | 'revoked'
  /** The App Store Server API answers every question with that code, the first three digits being the status. */
  server_error: number | null
  /** An agreement has to be signed first: everything at App Store Connect is 403. */
  missing_agreement: boolean
  /** Paths, or beginnings of paths, that are answered with 403. */
  forbidden: string[]
  /** So many hours later than usual the reports come. */
  reports_late: number
  /** The most items on a page of App Store Connect's lists, whatever the request. */
  page_size: number | null
  /** How long a token for the next page of notification history holds, in milliseconds. */
  page_token_life: number
  /** Where the app's notifications are sent; test notifications go there. */
  notification_url: string | null
  /** The result of test notifications, which are then not sent. */
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
    refuse_version: null,
    retired_says_no_sales: false,
    unavailable: 0,
    rate_limit: null,
    connect_key: 'admin',
    purchase_key: 'good',
    server_error: null,
    missing_agreement: false,
    forbidden: [],
    reports_late: 0,
    page_size: null,
    page_token_life: 5 * 60_000,
    notification_url: null,
    test_result: null,
  }
}
