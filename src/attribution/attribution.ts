/** Applies the two SDK calls, `identify` and `attribute`. Each call is one unit of work. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Transaction } from '../apple/payloads.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Feed } from '../events/feed.ts'
import type { EventType, Origin } from '../events/vocabulary.ts'
import type { Lineage } from '../ledger/event_writer.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Store } from '../store/store.ts'
import { type Caller, isProved } from './callers.ts'
import type { Erasures } from './erasure/erasure.ts'
import type { Proof, Verification } from './link.ts'
import { type Link, openLinks, type StoreName } from './links.ts'
import type { AttributeCall, IdentifyCall } from './requests.ts'
import { type CallLabel, openUsers } from './users.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Pick<Apps, 'get'>
  feed: Feed
  ledger: Ledger
  erasures: Pick<Erasures, 'admit'>
  limits: { attributes_per_user: number }
}

/**
 * The evidence of an attribute call. `signed`: its verified transaction; `xcode` for one of Xcode's local store.
 * `unattested`: why the SDK could not attest the device.
 */
type Evidence = { signed: Verified<Transaction> | 'xcode' | null; unattested: string | null }

export type Attribution = ReturnType<typeof openAttribution>

/** Opens the attribution. */
export function openAttribution({ store, clock, apps, feed, ledger, erasures, limits }: Deps) {
  const users = openUsers(store, clock, limits)
  const links = openLinks(store, clock)
  const { appendEvent, appendLinkEvent } = openCallEvents({ clock, feed, ledger })
  const environmentOf = (app_id: string, transaction_id: string): string | null =>
    ledger.customers.findByLineage(app_id, transaction_id)?.environment ?? null

  /**
   * Creates or updates a user, inside the caller's unit of work. A new user appends `customer.identified` to the feed.
   *
   * @throws Refusal 410 `forgotten`.
   */
  function identify(
    { app, credential }: Caller,
    call: IdentifyCall,
    unattested: string | null,
    origin: Origin = 'live',
  ): CallLabel {
    const erasure_id = erasures.admit(app.id, call.appUserId)
    const verification: Verification = isProved(credential) ? 'verified' : 'unverified'
    const label = { verification, unattested: verification === 'verified' ? null : unattested }
    const { is_new } = users.upsert(app, call, label, credential)
    if (is_new) {
      const data = { user: identified(call, label), platform: call.platform }
      const cause = `${erasure_id ?? app.id}/${call.appUserId}`
      appendEvent(app, { type: 'customer.identified', cause, subject: null, origin, data })
    }
    return label
  }

  /**
   * Links a purchase to a user, or moves the link, inside the caller's unit of work. A signed transaction enters the
   * ledger first, so the link finds its customer. A purchase in Xcode's local store is not stored: its ids are
   * 0, 1, … for every developer, so the link would move between developers and Apple does not know the id.
   *
   * @throws Refusal 410 `forgotten`; the call then stores nothing.
   */
  function attribute(
    caller: Caller,
    call: AttributeCall,
    { signed, unattested }: Evidence,
    origin: Origin = 'live',
  ) {
    const { app, credential } = caller
    erasures.admit(app.id, call.appUserId)
    if (signed === 'xcode') return { link: transientLink(call), before: null, moved: false }
    if (call.store === 'apple') ledger.lookups.add(app, call.originalTransactionId)
    if (signed) ledger.applyTransaction(app, signed, { origin: 'live', source: 'device' })
    const { now, before, change_id, store } = links.claim({
      app,
      store: call.store,
      transaction_id: call.originalTransactionId,
      platform: call.platform,
      app_user_id: call.appUserId,
      product_id: call.productId ?? signed?.payload.product_id ?? null,
      proofs: proofsOf(caller, signed, () => environmentOf(app.id, call.originalTransactionId)),
      credential,
      unattested: credential === 'device' ? null : unattested,
    })
    const moved = before !== null && before.app_user_id !== now.app_user_id
    const change = { store, transaction_id: call.originalTransactionId, now, before, origin }
    if (change_id !== null && (moved || before === null)) appendLinkEvent(app, { ...change, change_id })
    return { link: now, before, moved }
  }

  /**
   * Moves a purchase back to its previous user, inside the caller's unit of work, and appends the move to the feed.
   *
   * @throws Refusal 404 `unknown_move`, 409 `move_superseded`, 410 `forgotten`.
   */
  function undoMove(move_id: number): { link: Link; app_id: string } {
    const { row, now, before, change_id } = links.undo(move_id)
    const { app_id, store, transaction_id } = row
    for (const user of [now.app_user_id, now.proved_app_user_id]) {
      if (user !== null) erasures.admit(app_id, user)
    }
    const app = apps.get(app_id)
    if (app) appendLinkEvent(app, { store, transaction_id, now, before, change_id, origin: 'live' })
    return { link: now, app_id }
  }

  /** The field `user` of the snapshot of a ledger event. */
  function userOf({ app, original_transaction_id }: Lineage): Record<string, unknown> {
    const link = links.get(app.id, 'apple', original_transaction_id)
    return link ? userFields(link) : { user: null }
  }

  return { identify, attribute, undoMove, userOf, users, links }
}

/** Appends the events of calls to the feed. */
function openCallEvents({ clock, feed, ledger }: Pick<Deps, 'clock' | 'feed' | 'ledger'>) {
  function appendLinkEvent(app: App, change: LinkChange): void {
    const { store, transaction_id, now, before, change_id, origin } = change
    const data = {
      ...userFields(now),
      ...(before && { from_app_user_id: before.app_user_id }),
      product_id: now.product_id,
      store,
    }
    const type = before ? 'customer.moved' : 'customer.linked'
    appendEvent(app, { type, cause: change_id, subject: transaction_id, origin, data })
  }

  function appendEvent(app: App, { type, cause, subject, origin, data }: CallEvent): void {
    const customer = subject === null ? null : ledger.customers.findByLineage(app.id, subject)
    feed.append({
      type,
      cause,
      subject,
      app_id: app.id,
      organization_id: app.organization_id,
      origin,
      environment: customer?.environment ?? null,
      customer_id: customer?.canonical_id ?? null,
      data: () => ({ bundle_id: app.bundle_id, ...data }),
      occurred_at: clock(),
      signed_at: null,
    })
  }

  return { appendEvent, appendLinkEvent }
}

/** A new link of a purchase, or a changed one. `before` is null for a new link. */
type LinkChange = {
  store: StoreName
  transaction_id: string
  now: Link
  before: Link | null
  change_id: string
  origin: Origin
}

/** An event of a call. `subject` is the transaction id of its purchase, if there is one. */
type CallEvent = {
  type: EventType
  cause: string
  subject: string | null
  origin: Origin
  data: Record<string, unknown>
}

const transientLink = ({ appUserId }: AttributeCall) => ({
  app_user_id: appUserId,
  verification: 'unverified' as const,
  unattested: null,
})

/** A development build proves nothing about production, and an unknown purchase may be one of production. */
function proofsOf(
  { credential, device }: Caller,
  signed: Verified<Transaction> | null,
  environment: () => string | null,
): Proof[] {
  const proofs: Proof[] = signed ? ['purchase'] : []
  if (credential === 'secret') proofs.push('server')
  if (device && (device.environment === 'production' || environment() === 'sandbox')) proofs.push('device')
  return proofs
}

const userFields = ({ app_user_id, proved_app_user_id, verification, proofs, unattested }: Link) => ({
  user: { app_user_id, proved_app_user_id, verification, proofs, ...reasonOf({ verification, unattested }) },
})

const identified = ({ appUserId }: IdentifyCall, label: CallLabel) => ({
  app_user_id: appUserId,
  verification: label.verification,
  ...reasonOf(label),
})

/** Why an unverified call was not attested, if its SDK stated that. */
const reasonOf = ({ verification, unattested }: CallLabel) =>
  verification === 'unverified' && unattested !== null ? { unattested } : {}
