/** What we remember: what Apple told us. `apply` is the one door, for whatever brought it. */
import { SignatureError, type Verified } from '../apple/jws/signed.ts'
import type { Notification } from '../apple/notification.ts'
import type { Environment, Renewal, Transaction } from '../apple/payloads.ts'
import type { SubscriptionFacts } from '../apple/subscription.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Feed } from '../events/feed.ts'
import type { Origin } from '../events/vocabulary.ts'
import { openHook } from '../hooks.ts'
import type { Store } from '../store/store.ts'
import { openCustomers } from './customers.ts'
import { type Lineage, openAnnouncements, type Subject } from './event_writer.ts'
import { openEvidence } from './evidence.ts'
import { openLookups } from './history/lookups.ts'
import { openNotifications } from './notifications.ts'
import { openRaw, type Source } from './raw.ts'
import { openRenewals } from './renewals.ts'
import { openSubscriptions } from './subscriptions.ts'
import { type Kept, openTransactions } from './transactions.ts'

/** How a fact came: decides the origin of its events and what is kept beside the raw bytes. */
export type Arrival = { origin: Origin; source: Source }

type Deps = { store: Store; clock: Clock; feed: Feed; apps: Apps }

/** The lineage of an original transaction id. */
export type LineageKey = { app_id: string; environment: Environment; original_transaction_id: string }

export type Ledger = ReturnType<typeof openLedger>

export function openLedger({ store, clock, feed, apps }: Deps) {
  const changed = openHook<[lineage: LineageKey, origin: Origin]>()
  const raw = openRaw(store, clock)
  const notifications = openNotifications(store, clock)
  const transactions = openTransactions(store)
  const renewals = openRenewals(store)
  const subscriptions = openSubscriptions(store)
  const customers = openCustomers(store)
  const lookups = openLookups(store, clock, customers)
  const announce = openAnnouncements({ feed, clock, subscriptions })

  /**
   * Applies a proved notification to an app, inside the caller's unit of work. Any order and any repetition of
   * the same notifications leaves the same ledger and the same events.
   */
  function apply(
    app: App,
    verified: Verified<Notification>,
    { origin, source }: Arrival,
  ): { is_new: boolean } {
    const notification = verified.payload
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const payload = raw.keep(app.id, sha256, 'notification', source, verified.jws)
    if (!payload.is_new) return { is_new: false }
    learnFrom(app, notification)
    notifications.keep(app.id, notification, sha256, payload.id, origin)
    const { transaction, renewal } = notification
    const arrived = { origin, is_reversal: notification.type === 'REFUND_REVERSED' }
    const kept = transaction && keepTransaction(app, transaction, payload.id, arrived)
    if (renewal) renewals.keep(app.id, renewal, payload.id)
    const lineage = lineageOf(app, notification)
    const subject = lineage && bringUpToDate(lineage, notification, origin)
    announce.notified(app, subject, notification, origin)
    if (subject && transaction && kept) tellOf(subject, transaction.payload, kept, origin)
    return { is_new: true }
  }

  /** Applies one proved transaction that came by itself, from a device or from Apple's history. */
  function applyTransaction(
    app: App,
    verified: Verified<Transaction>,
    { origin, source }: Arrival,
  ): { is_new: boolean } {
    const transaction = verified.payload
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const payload = raw.keep(app.id, sha256, 'transaction', source, verified.jws)
    if (!payload.is_new) return { is_new: false }
    const kept = keepTransaction(app, verified, payload.id, { origin })
    const { environment, original_transaction_id } = transaction
    const lineage = { app, environment, original_transaction_id }
    tellOf(
      bringUpToDate(lineage, { transaction: verified, renewal: null }, origin),
      transaction,
      kept,
      origin,
    )
    return { is_new: true }
  }

  /**
   * Applies a subscription as Apple's statuses show it: its last transaction and its renewal information, each proved
   * by itself. The number that Apple puts beside them is not signed and not kept: these two say it, too.
   *
   * @throws SignatureError `mismatch` when they are not of one subscription of this app.
   */
  function applyStatus(
    app: App,
    { transaction, renewal }: SubscriptionFacts,
    { origin, source }: Arrival,
  ): { is_new: boolean } {
    assertOneOf(app, transaction.payload, renewal.payload)
    const bought = keepAlone(app, transaction, 'transaction', source)
    const renews = keepAlone(app, renewal, 'renewal', source)
    if (!bought.is_new && !renews.is_new) return { is_new: false }
    const kept = bought.is_new ? keepTransaction(app, transaction, bought.id, { origin }) : null
    if (renews.is_new) renewals.keep(app.id, renewal, renews.id)
    const { environment, original_transaction_id } = transaction.payload
    const lineage = { app, environment, original_transaction_id }
    const subject = bringUpToDate(lineage, { transaction, renewal }, origin)
    if (kept) tellOf(subject, transaction.payload, kept, origin)
    return { is_new: true }
  }

  const keepAlone = (app: App, { sha256, jws }: Verified<unknown>, kind: string, source: Source) =>
    raw.keep(app.id, Buffer.from(sha256, 'hex'), kind, source, jws)

  function learnFrom(app: App, { environment, apple_id }: Notification): void {
    if (environment === 'production' && apple_id !== null && app.apple_id === null)
      apps.learnAppleId(app, apple_id)
  }

  /** Brings everything derived of a lineage up to date with the facts just kept. */
  function bringUpToDate(
    lineage: Lineage,
    { transaction, renewal }: Pick<Notification, 'transaction' | 'renewal'>,
    origin: Origin,
  ): Subject {
    const { app, environment, original_transaction_id } = lineage
    const ids = [transaction?.payload.app_transaction_id, renewal?.payload.app_transaction_id]
    const seen = customers.recognise(app.id, environment, {
      original_transaction_id,
      original_purchased_at: transaction?.payload.original_purchased_at ?? null,
      app_transaction_ids: [...new Set(ids.filter((id) => typeof id === 'string'))],
    })
    const derived = subscriptions.recompute(app.id, environment, original_transaction_id)
    changed.call({ app_id: app.id, environment, original_transaction_id }, origin)
    for (const merged of seen.merged) announce.merged(lineage, merged, seen.canonical_id, origin)
    return { ...lineage, customer_id: seen.canonical_id, derived }
  }

  /** Keeps a transaction; where a newer version names another lineage, the one it left is made anew as well. */
  function keepTransaction(
    app: App,
    verified: Verified<Transaction>,
    payload_id: number,
    { origin, is_reversal = false }: { origin: Origin; is_reversal?: boolean },
  ): Kept {
    const kept = transactions.keep(app.id, verified, payload_id, is_reversal)
    if (kept.left === null) return kept
    const { environment } = verified.payload
    subscriptions.recompute(app.id, environment, kept.left)
    changed.call({ app_id: app.id, environment, original_transaction_id: kept.left }, origin)
    return kept
  }

  function tellOf(subject: Subject, transaction: Transaction, kept: Kept, origin: Origin): void {
    if (kept.is_first) announce.recorded(subject, transaction, origin)
    for (const conversion of transactions.conversions(kept.row)) {
      announce.converted(subject, conversion, transaction, origin)
    }
  }

  return {
    apply,
    applyTransaction,
    applyStatus,
    /** Calls the listener within the unit of work that keeps a fact of a lineage, before its events are appended. */
    onChange: changed.add,
    describe: announce.describe,
    withhold: announce.withhold,
    raw,
    evidence: openEvidence(store, raw),
    customers,
    lookups,
  }
}

function assertOneOf(app: App, transaction: Transaction, renewal: Renewal): void {
  const isSame =
    transaction.bundle_id === app.bundle_id &&
    transaction.environment === renewal.environment &&
    transaction.original_transaction_id === renewal.original_transaction_id
  if (isSame) return
  throw new SignatureError('mismatch', `not a transaction and its renewal of ${app.bundle_id}`)
}

function lineageOf(app: App, { environment, transaction, renewal }: Notification): Lineage | null {
  const original_transaction_id =
    transaction?.payload.original_transaction_id ?? renewal?.payload.original_transaction_id
  return original_transaction_id ? { app, environment, original_transaction_id } : null
}
