/** The ledger: applies every fact that Apple signed, from any source. */
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
import { type Lineage, openEventWriter, type Subject } from './event_writer.ts'
import { openEvidence } from './evidence.ts'
import { openLookups } from './history/lookups.ts'
import { openNotifications } from './notifications.ts'
import type { Arrival, EventArrival } from './origin.ts'
import { openRawPayloads, type Source } from './raw.ts'
import { openRenewals } from './renewals.ts'
import { openSubscriptions } from './subscriptions.ts'
import { openTransactions, type SavedTransaction } from './transactions.ts'

type Deps = { store: Store; clock: Clock; feed: Feed; apps: Apps }

/** The lineage of an original transaction id. */
export type LineageKey = { app_id: string; environment: Environment; original_transaction_id: string }

export type Ledger = ReturnType<typeof openLedger>

/** Opens the ledger. The `origin` that listeners of `onChange` receive is that of the arrival, whatever the fact's age. */
export function openLedger({ store, clock, feed, apps }: Deps) {
  const changeListener = openHook<[lineage: LineageKey, origin: Origin]>()
  const raw = openRawPayloads(store, clock)
  const notifications = openNotifications(store, clock)
  const transactions = openTransactions(store)
  const renewals = openRenewals(store)
  const subscriptions = openSubscriptions(store)
  const customers = openCustomers(store)
  const lookups = openLookups(store, clock, customers)
  const eventWriter = openEventWriter({ feed, clock, subscriptions })

  /**
   * Applies a verified notification to an app, inside the caller's unit of work. The ledger and its events do not
   * depend on the order in which notifications are applied, nor on repetitions.
   */
  function apply(
    app: App,
    verified: Verified<Notification>,
    { origin, source }: Arrival,
  ): { is_new: boolean } {
    const notification = verified.payload
    const arrival = { origin, source, signed_at: notification.signed_at }
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const payload = raw.save(app.id, sha256, 'notification', source, verified.jws)
    if (!payload.is_new) return { is_new: false }
    learnAppleIdFrom(app, notification)
    notifications.save(app.id, notification, sha256, payload.id, origin)
    const { transaction, renewal } = notification
    const is_reversal = notification.type === 'REFUND_REVERSED'
    const saved = transaction && saveTransaction(app, transaction, payload.id, { origin, is_reversal })
    if (renewal) renewals.save(app.id, renewal, payload.id)
    const lineage = lineageOf(app, notification)
    const subject = lineage && updateLineage(lineage, notification, arrival)
    const graceEnd = () => renewals.graceEnd(app.id, notification)
    eventWriter.appendNotification(app, subject, notification, { arrival, graceEnd })
    if (subject && transaction && saved) appendTransactionEvents(subject, transaction.payload, saved, arrival)
    return { is_new: true }
  }

  /** Applies one verified transaction that arrived without a notification, from a device or from Apple's history. */
  function applyTransaction(
    app: App,
    verified: Verified<Transaction>,
    { origin, source }: Arrival,
  ): { is_new: boolean } {
    const transaction = verified.payload
    const arrival = { origin, source, signed_at: null }
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const payload = raw.save(app.id, sha256, 'transaction', source, verified.jws)
    if (!payload.is_new) return { is_new: false }
    const saved = saveTransaction(app, verified, payload.id, { origin })
    const { environment, original_transaction_id } = transaction
    const lineage = { app, environment, original_transaction_id }
    const subject = updateLineage(lineage, { transaction: verified, renewal: null }, arrival)
    appendTransactionEvents(subject, transaction, saved, arrival)
    return { is_new: true }
  }

  /**
   * Applies a subscription from Apple's subscription statuses: its last transaction and its renewal info, each verified
   * separately. The status number is not stored, because Apple does not sign it and the two payloads determine it.
   *
   * @throws SignatureError `mismatch` when the two payloads do not belong to one subscription of this app.
   */
  function applyStatus(
    app: App,
    { transaction, renewal }: SubscriptionFacts,
    { origin, source }: Arrival,
  ): { is_new: boolean } {
    assertSameSubscription(app, transaction.payload, renewal.payload)
    const transactionPayload = savePayload(app, transaction, 'transaction', source)
    const renewalPayload = savePayload(app, renewal, 'renewal', source)
    if (!transactionPayload.is_new && !renewalPayload.is_new) return { is_new: false }
    const saved = transactionPayload.is_new
      ? saveTransaction(app, transaction, transactionPayload.id, { origin })
      : null
    if (renewalPayload.is_new) renewals.save(app.id, renewal, renewalPayload.id)
    const { environment, original_transaction_id } = transaction.payload
    const lineage = { app, environment, original_transaction_id }
    const arrival = { origin, source, signed_at: null }
    const subject = updateLineage(lineage, { transaction, renewal }, arrival)
    if (saved) appendTransactionEvents(subject, transaction.payload, saved, arrival)
    return { is_new: true }
  }

  const savePayload = (app: App, { sha256, jws }: Verified<unknown>, kind: string, source: Source) =>
    raw.save(app.id, Buffer.from(sha256, 'hex'), kind, source, jws)

  function learnAppleIdFrom(app: App, { environment, apple_id }: Notification): void {
    if (environment === 'production' && apple_id !== null && app.apple_id === null)
      apps.setAppleId(app, apple_id)
  }

  /** Updates everything derived from a lineage after a new fact. */
  function updateLineage(
    lineage: Lineage,
    { transaction, renewal }: Pick<Notification, 'transaction' | 'renewal'>,
    arrival: EventArrival,
  ): Subject {
    const { app, environment, original_transaction_id } = lineage
    const ids = [transaction?.payload.app_transaction_id, renewal?.payload.app_transaction_id]
    const identity = customers.identify(app.id, environment, {
      original_transaction_id,
      original_purchased_at: transaction?.payload.original_purchased_at ?? null,
      app_transaction_ids: [...new Set(ids.filter((id) => typeof id === 'string'))],
    })
    const derived = subscriptions.recompute(app.id, environment, original_transaction_id)
    changeListener.call({ app_id: app.id, environment, original_transaction_id }, arrival.origin)
    for (const merged of identity.merged)
      eventWriter.appendMerge(lineage, merged, identity.canonical_id, arrival)
    return { ...lineage, customer_id: identity.canonical_id, derived }
  }

  /** Stores a version of a transaction. If the version moves it to another lineage, recomputes the previous lineage. */
  function saveTransaction(
    app: App,
    verified: Verified<Transaction>,
    payload_id: number,
    { origin, is_reversal = false }: { origin: Origin; is_reversal?: boolean },
  ): SavedTransaction {
    const saved = transactions.save(app.id, verified, payload_id, is_reversal)
    if (saved.previous_lineage === null) return saved
    const { environment } = verified.payload
    subscriptions.recompute(app.id, environment, saved.previous_lineage)
    changeListener.call(
      { app_id: app.id, environment, original_transaction_id: saved.previous_lineage },
      origin,
    )
    return saved
  }

  function appendTransactionEvents(
    subject: Subject,
    transaction: Transaction,
    saved: SavedTransaction,
    arrival: EventArrival,
  ): void {
    if (saved.is_first) eventWriter.appendTransaction(subject, transaction, arrival)
    for (const conversion of transactions.conversions(saved.row)) {
      eventWriter.appendConversion(subject, conversion, transaction, arrival)
    }
  }

  return {
    apply,
    applyTransaction,
    applyStatus,
    /** Calls the listener within the unit of work that stores a fact of a lineage, before its events are appended. */
    onChange: changeListener.add,
    extendSnapshot: eventWriter.extendSnapshot,
    redactTokens: eventWriter.redactTokens,
    raw,
    evidence: openEvidence(store, raw),
    customers,
    lookups,
  }
}

function assertSameSubscription(app: App, transaction: Transaction, renewal: Renewal): void {
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
