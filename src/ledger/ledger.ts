/** What we remember: what Apple told us. `apply` is the one door, for whatever brought it. */
import type { Notification } from '../apple/notification.ts'
import type { Environment, Transaction } from '../apple/payloads.ts'
import type { Verified } from '../apple/signed.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Feed, Happening } from '../events/feed.ts'
import type { EventType, Origin } from '../events/vocabulary.ts'
import type { Store } from '../store/store.ts'
import { openCustomers } from './customers.ts'
import { isTrial, meaningOf } from './meaning.ts'
import { openNotifications } from './notifications.ts'
import { openRaw, type Source } from './raw.ts'
import { openRenewals } from './renewals.ts'
import { notificationPart, renewalPart, subscriptionPart, transactionPart } from './snapshot.ts'
import { openSubscriptions } from './subscriptions.ts'
import { openTransactions } from './transactions.ts'

/** One lineage: what `describe` is told. */
export type Lineage = { app: App; environment: Environment; original_transaction_id: string }
/** How a fact came: decides the origin of its events and what is kept beside the raw bytes. */
export type Arrival = { origin: Origin; source: Source }

type Deps = { store: Store; clock: Clock; feed: Feed; apps: Apps }
type Written = Pick<Happening, 'type' | 'cause' | 'occurred_at' | 'signed_at'> & {
  part: Record<string, unknown>
  as_of: number
}

export type Ledger = ReturnType<typeof openLedger>

export function openLedger({ store, clock, feed, apps }: Deps) {
  const raw = openRaw(store, clock)
  const notifications = openNotifications(store, clock)
  const transactions = openTransactions(store)
  const renewals = openRenewals(store)
  const subscriptions = openSubscriptions(store)
  const customers = openCustomers(store)

  let describeMore = (_lineage: Lineage): Record<string, unknown> => ({})

  /**
   * Applies a proved notification to an app, inside the caller's unit of work. Any order and any repetition of
   * the same notifications leaves the same ledger and the same events.
   */
  function apply(app: App, verified: Verified<Notification>, arrival: Arrival): { is_new: boolean } {
    const notification = verified.payload
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const payload = raw.keep(app.id, sha256, 'notification', arrival.source, verified.jws)
    if (!payload.is_new) return { is_new: false }
    if (
      notification.environment === 'production' &&
      notification.apple_id !== null &&
      app.apple_id === null
    ) {
      apps.learnAppleId(app, notification.apple_id)
    }
    notifications.keep(app.id, notification, sha256, payload.id, arrival.origin)
    const { transaction, renewal } = notification
    const isFirst = transaction ? transactions.keep(app.id, transaction, payload.id).is_first : false
    if (renewal) renewals.keep(app.id, renewal, payload.id)
    const lineage = lineageOf(app, notification)
    const customer_id = lineage ? changed(lineage, notification, arrival) : null
    announceMeaning(app, lineage, notification, customer_id, arrival)
    if (lineage && transaction)
      announceTransaction(lineage, transaction.payload, customer_id, arrival, isFirst)
    return { is_new: true }
  }

  /** Applies one proved transaction that came by itself, from a device or from Apple's history. */
  function applyTransaction(
    app: App,
    verified: Verified<Transaction>,
    arrival: Arrival,
  ): { is_new: boolean } {
    const transaction = verified.payload
    const sha256 = Buffer.from(verified.sha256, 'hex')
    const payload = raw.keep(app.id, sha256, 'transaction', arrival.source, verified.jws)
    if (!payload.is_new) return { is_new: false }
    const { is_first } = transactions.keep(app.id, verified, payload.id)
    const { environment, original_transaction_id } = transaction
    const lineage = { app, environment, original_transaction_id }
    const customer_id = changed(lineage, { transaction: verified, renewal: null }, arrival)
    announceTransaction(lineage, transaction, customer_id, arrival, is_first)
    return { is_new: true }
  }

  /** Brings everything derived of a lineage up to date; the canonical id of its customer. */
  function changed(
    lineage: Lineage,
    facts: Pick<Notification, 'transaction' | 'renewal'>,
    arrival: Arrival,
  ): string {
    const { app, environment, original_transaction_id } = lineage
    const ids = [
      facts.transaction?.payload.app_transaction_id ?? null,
      facts.renewal?.payload.app_transaction_id ?? null,
    ]
    const original_purchased_at = facts.transaction?.payload.original_purchased_at ?? null
    let canonical_id = ''
    for (const app_transaction_id of new Set(ids)) {
      const clues = { original_transaction_id, original_purchased_at, app_transaction_id }
      const seen = customers.recognise(app.id, environment, clues)
      canonical_id = seen.canonical_id
      for (const merged of seen.merged) announceMerge(lineage, merged, seen.canonical_id, arrival)
    }
    subscriptions.recompute(app.id, environment, original_transaction_id)
    return canonical_id
  }

  function announceMeaning(
    app: App,
    lineage: Lineage | null,
    notification: Notification,
    customer_id: string | null,
    { origin }: Arrival,
  ): void {
    const { type, occurred_at } = meaningOf(notification)
    const { transaction, renewal, signed_at, uuid: cause } = notification
    const at = occurred_at ?? clock()
    const part = {
      ...(transaction ? transactionPart(transaction.payload) : renewal ? renewalPart(renewal.payload) : {}),
      notification: notificationPart(notification),
    }
    const written = { type, cause, occurred_at: at, signed_at, part, as_of: Math.max(at, signed_at ?? 0) }
    announce(app, lineage, notification.environment, customer_id, origin, written)
  }

  function announceTransaction(
    lineage: Lineage,
    transaction: Transaction,
    customer_id: string | null,
    { origin }: Arrival,
    isFirst: boolean,
  ): void {
    const { app, environment, original_transaction_id } = lineage
    const part = transactionPart(transaction)
    const tell = (type: EventType, cause: string, occurred_at: number) =>
      announce(app, lineage, environment, customer_id, origin, {
        ...{ type, cause, occurred_at, part, as_of: occurred_at },
        signed_at: transaction.signed_at,
      })
    if (isFirst) tell('transaction.recorded', transaction.transaction_id, transaction.purchased_at)
    if (!isTrial(transaction) && transaction.reason !== 'RENEWAL') return
    for (const { trial_id, converted_at } of transactions.conversions(
      app.id,
      environment,
      original_transaction_id,
    )) {
      tell('trial.converted', trial_id, converted_at)
    }
  }

  function announceMerge(lineage: Lineage, from: string, into: string, { origin }: Arrival): void {
    const { app, environment } = lineage
    const part = { merged_customer_id: from }
    const at = clock()
    const written = {
      type: 'customer.merged' as const,
      cause: `${from}:${into}`,
      occurred_at: at,
      signed_at: null,
      part,
      as_of: at,
    }
    announce(app, lineage, environment, into, origin, written)
  }

  function announce(
    app: App,
    lineage: Lineage | null,
    environment: Environment,
    customer_id: string | null,
    origin: Origin,
    { part, as_of, ...written }: Written,
  ): void {
    feed.append({
      ...written,
      organization_id: app.organization_id,
      app_id: app.id,
      environment,
      origin,
      customer_id,
      subject: lineage?.original_transaction_id ?? null,
      data: () => ({ bundle_id: app.bundle_id, ...part, ...(lineage && stateAfter(lineage, as_of)) }),
    })
  }

  function stateAfter(lineage: Lineage, at: number): Record<string, unknown> {
    const { app, environment, original_transaction_id } = lineage
    const row = subscriptions.asOf(at, app.id, environment, original_transaction_id)
    return { subscription: row && subscriptionPart(row, at), ...describeMore(lineage) }
  }

  /** `hook` tells what later folders add to an event's snapshot. */
  function describe(hook: typeof describeMore): void {
    describeMore = hook
  }

  return { apply, applyTransaction, describe, raw, customers, transactions }
}

function lineageOf(app: App, notification: Notification): Lineage | null {
  const original_transaction_id =
    notification.transaction?.payload.original_transaction_id ??
    notification.renewal?.payload.original_transaction_id
  return original_transaction_id
    ? { app, environment: notification.environment, original_transaction_id }
    : null
}
