/** Sizes of the bench: large enough for reliable figures, or small to check that it works. */

export type Sizes = typeof FULL

/** Each contender gets its turn `rounds` times; times in seconds. */
export const FULL = {
  rounds: 5,
  warm_seconds: 0.7,
  seconds: 3,
  /** Some of the tails come from a fixed piece of work, which has to fit in here. */
  tail_seconds: 10,
  tail_rounds: 3,
  cold_users: 1_000_000,
  hot_users: 50_000,
  /** Notifications sent in a round. */
  notifications: 2_000,
  /** Notifications verified in a round. */
  verified: 1_000,
  /** The same by Apple's library without its cache, which needs thirty times as long for one. */
  verified_offline: 60,
  subscribers: 2_300,
  /** For the bytes of a notification; undefined is the history of `windfall demo`. */
  history_subscribers: undefined as number | undefined,
  starts: 9,
  viewers: 1_000,
  /** What was needed to start has been given back by then. */
  idle_seconds: 3,
  load_seconds: 20,
  /** Uncompressed. */
  report_megabytes: [5, 50] as readonly [small: number, large: number],
  /** Of the simulated store that is connected to for the first time. */
  store_subscribers: 50_000,
  /** Of the one that is read while calls come in: there has to be enough to read for as long as they do. */
  tail_subscribers: 10_000,
  /** Large reports that are imported meanwhile: again, more than can be. */
  tail_reports: 90,
  /** What metrics are counted of. */
  business_transactions: 5_000_000,
  /** How often each chart is asked for. */
  chart_turns: 20,
  /**
   * What is kept up: so many subscriptions in the first of so many apps, one more with so many renewals; so many
   * notifications of each kind, and so many in a burst.
   */
  upkeep: {
    subscriptions: 200_000,
    apps: 1_000,
    renewals: 3_000,
    notifications: 2_000,
    burst: 5_000,
    rounds: 3,
  },
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
  starts: 1,
  viewers: 200,
  idle_seconds: 0.5,
  load_seconds: 1,
  report_megabytes: [0.5, 5],
  store_subscribers: 200,
  tail_subscribers: 300,
  tail_reports: 10,
  business_transactions: 100_000,
  chart_turns: 5,
  upkeep: { subscriptions: 2_000, apps: 100, renewals: 300, notifications: 200, burst: 500, rounds: 1 },
}
