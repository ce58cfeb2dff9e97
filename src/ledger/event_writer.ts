/** Appends the ledger's events to the feed, each with its snapshot. */
import type { Notification } from '../apple/notification.ts'
import type { Environment, Transaction } from '../apple/payloads.ts'
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Feed, FeedEvent, NewEvent } from '../events/feed.ts'
import { openHook } from '../hooks.ts'
import { eventFor, type GraceEnd } from './meaning.ts'
import { type EventArrival, originOf } from './origin.ts'
import { notificationFields, renewalFields, subscriptionFields, transactionFields } from './snapshot.ts'
import type { Derived, Subscriptions } from './subscriptions.ts'
import type { Conversion } from './transactions.ts'

/** One lineage, as passed to the listeners that extend a snapshot. */
export type Lineage = { app: App; environment: Environment; original_transaction_id: string }

/** A lineage that events concern, after its derived rows were recomputed. */
export type Subject = Lineage & {
  /** The canonical id of its customer. */
  customer_id: string
  /** The subscription of the lineage; null for a one-time purchase. */
  derived: Derived | null
}

type EventDraft = Pick<NewEvent, 'type' | 'cause' | 'occurred_at' | 'signed_at'> & {
  snapshot: Record<string, unknown>
}
type Deps = { feed: Feed; clock: Clock; subscriptions: Subscriptions }

export function openEventWriter({ feed, clock, subscriptions }: Deps) {
  const snapshotHook = openHook<[lineage: Lineage], Record<string, unknown>>()
  const redaction = openHook<[app_id: string, token: string], boolean>()

  const snapshotExtension = (lineage: Lineage): Record<string, unknown> =>
    Object.assign({}, ...snapshotHook.call(lineage))
  const isRedacted = (app_id: string, token: string): boolean => redaction.call(app_id, token).includes(true)

  /** The transaction fields of a snapshot. Omits the appAccountToken if a `redactTokens` listener requires it. */
  function transactionSnapshot({ id }: App, transaction: Transaction): ReturnType<typeof transactionFields> {
    const { app_account_token: token } = transaction
    const isHidden = token !== null && isRedacted(id, token)
    return transactionFields(isHidden ? { ...transaction, app_account_token: null } : transaction)
  }

  /** Appends the event of a notification. `subject` is null if the notification concerns the whole app. */
  function appendNotification(
    app: App,
    subject: Subject | null,
    notification: Notification,
    { arrival, graceEnd }: { arrival: EventArrival; graceEnd: GraceEnd },
  ): void {
    const { transaction, renewal, signed_at, environment, uuid: cause } = notification
    const { type, occurred_at } = eventFor(notification, graceEnd)
    const details = transaction
      ? transactionSnapshot(app, transaction.payload)
      : renewal
        ? renewalFields(renewal.payload)
        : {}
    const snapshot = { ...details, notification: notificationFields(notification) }
    const draft: EventDraft = { type, cause, occurred_at: occurred_at ?? clock(), signed_at, snapshot }
    if (subject) return appendWithState(subject, arrival, draft)
    append(app, environment, arrival, draft, { customer_id: null, subject: null, state: () => ({}) })
  }

  /** Appends `transaction.recorded` for a new transaction id. */
  function appendTransaction(subject: Subject, transaction: Transaction, arrival: EventArrival): void {
    const { transaction_id: cause, purchased_at: occurred_at, signed_at } = transaction
    appendWithState(subject, arrival, {
      type: 'transaction.recorded',
      cause,
      occurred_at,
      signed_at,
      snapshot: transactionSnapshot(subject.app, transaction),
    })
  }

  /** Appends `trial.converted`. Its cause is the transaction id of the trial, so a trial converts only once. */
  function appendConversion(
    subject: Subject,
    conversion: Conversion,
    transaction: Transaction,
    arrival: EventArrival,
  ): void {
    const { trial_id: cause, converted_at: occurred_at } = conversion
    const { signed_at } = transaction
    appendWithState(subject, arrival, {
      type: 'trial.converted',
      cause,
      occurred_at,
      signed_at,
      snapshot: transactionSnapshot(subject.app, transaction),
    })
  }

  /** Appends the merge of two customers. */
  function appendMerge(lineage: Lineage, from: string, into: string, arrival: EventArrival): void {
    const snapshot = { merged_customer_id: from }
    const draft: EventDraft = {
      type: 'customer.merged',
      cause: `${from}:${into}`,
      occurred_at: clock(),
      signed_at: null,
      snapshot,
    }
    append(lineage.app, lineage.environment, arrival, draft, {
      customer_id: into,
      subject: lineage.original_transaction_id,
      state: () => snapshotExtension(lineage),
    })
  }

  function appendWithState(subject: Subject, arrival: EventArrival, draft: EventDraft): void {
    const at = snapshotTime(draft)
    append(subject.app, subject.environment, arrival, draft, {
      customer_id: subject.customer_id,
      subject: subject.original_transaction_id,
      state: () => ({ subscription: stateAfter(subject, at), ...snapshotExtension(subject) }),
    })
  }

  function stateAfter({ derived }: Subject, at: number) {
    const row = derived && subscriptions.asOf(at, derived)
    return row && subscriptionFields(row, at)
  }

  function append(
    app: App,
    environment: Environment,
    arrival: EventArrival,
    { snapshot, ...draft }: EventDraft,
    details: { customer_id: string | null; subject: string | null; state: () => Record<string, unknown> },
  ): void {
    const { customer_id, subject, state } = details
    feed.append({
      ...draft,
      environment,
      origin: originOf(draft, arrival, clock()),
      customer_id,
      subject,
      organization_id: app.organization_id,
      app_id: app.id,
      data: () => ({ bundle_id: app.bundle_id, ...snapshot, ...state() }),
    })
  }

  return {
    appendNotification,
    appendTransaction,
    appendConversion,
    appendMerge,
    /** Adds a listener that returns fields for an event's snapshot. The last listener that returns a field wins. */
    extendSnapshot: snapshotHook.add,
    /** Adds a listener that returns whether to omit an appAccountToken from events. One `true` suffices. */
    redactTokens: redaction.add,
  }
}

const DAY_MS = 86_400_000

/**
 * The instant whose state the snapshot shows, in milliseconds: when Apple signed the fact, so that the snapshot has the
 * fact. If Apple signed a transaction more than a day after it occurred, it is the instant of the transaction.
 */
export function snapshotTime({
  type,
  occurred_at,
  signed_at,
}: Pick<FeedEvent, 'type' | 'occurred_at' | 'signed_at'>): number {
  const signed = signed_at ?? 0
  if (type === 'transaction.recorded' && signed - occurred_at > DAY_MS) return occurred_at
  return Math.max(occurred_at, signed)
}
