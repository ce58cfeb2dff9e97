/** Sizes of the benchmark: large for reliable figures, or small for a quick check that it runs. */

export type Sizes = typeof FULL

/** Each contender runs `rounds` times. Times are in seconds. */
export const FULL = {
  rounds: 5,
  warm_seconds: 0.7,
  seconds: 3,
  /** The load during other work, such as a backup. That work must last longer than this. */
  tail_seconds: 10,
  tail_rounds: 3,
  cold_users: 1_000_000,
  hot_users: 50_000,
  /** Notifications sent in a round. */
  notifications: 2_000,
  /** Notifications verified in a round. */
  verified: 1_000,
  /** Notifications that Apple's library verifies in a round without its cache; each takes thirty times as long. */
  verified_offline: 60,
  subscribers: 2_300,
  /** Subscribers of the history whose bytes are measured. Undefined: as many as in `windfall demo`. */
  history_subscribers: undefined as number | undefined,
  starts: 20,
  viewers: 1_000,
  /** The wait before the idle memory is read: the memory of the start is released by then. */
  idle_seconds: 3,
  load_seconds: 20,
  /** Sizes of the sales reports, uncompressed. */
  report_megabytes: [5, 50] as readonly [small: number, large: number],
  /** Subscribers of the simulated App Store in the section first-connect. */
  store_subscribers: 50_000,
  /** Subscribers of the App Store that is read during the load. The backfill must last longer than the load. */
  tail_subscribers: 10_000,
  /** Large reports that are imported during the load. The import must last longer than the load. */
  tail_reports: 90,
  /** Transactions of the business in the sections metrics and pages. */
  business_transactions: 5_000_000,
  /** Requests for each chart. */
  chart_repeats: 20,
  /**
   * The section upkeep: `subscriptions` in the first of `apps` apps, one more subscription with `renewals` renewals,
   * `notifications` of each kind, and `burst` notifications in a burst.
   */
  upkeep: {
    subscriptions: 200_000,
    apps: 1_000,
    renewals: 3_000,
    notifications: 2_000,
    burst: 5_000,
    rounds: 3,
  },
  /** The section forwarding: events for each endpoint, rounds of the speed, and pairs of loads without and with it. */
  forwarding: { events: 100_000, rounds: 3, paired_rounds: 5 },
}

export const QUICK: Sizes = {
  rounds: 1,
  warm_seconds: 0.1,
  seconds: 0.3,
  tail_seconds: 0.5,
  tail_rounds: 1,
  cold_users: 30_000,
  hot_users: 5_000,
  notifications: 150,
  verified: 100,
  verified_offline: 10,
  subscribers: 200,
  history_subscribers: 60,
  starts: 3,
  viewers: 200,
  idle_seconds: 0.5,
  load_seconds: 1,
  report_megabytes: [0.5, 5],
  store_subscribers: 200,
  tail_subscribers: 300,
  tail_reports: 10,
  business_transactions: 100_000,
  chart_repeats: 5,
  upkeep: { subscriptions: 2_000, apps: 100, renewals: 300, notifications: 200, burst: 500, rounds: 1 },
  forwarding: { events: 3_000, rounds: 1, paired_rounds: 1 },
}
