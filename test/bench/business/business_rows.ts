/** Inserts the rows of the business of business.ts. */
import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { customerId } from '../../../src/ledger/customers.ts'
import { userId } from '../database.ts'
import { BUSINESS_FROM, type Sale, type Subscription } from './business.ts'

/** A lineage: the id and the time of its first transaction. */
export type Lineage = { app_id: string; original_id: string; started_at: number }

const COLUMNS = `app_id, environment, transaction_id, original_transaction_id, product_id, group_id, kind, reason,
  ownership, quantity, price_milli, currency, storefront, purchased_at, original_purchased_at, expires_at,
  earliest_expires_at, latest_expires_at, trial_signed_at, paid_renewal_signed_at, offer_type, offer_discount,
  offer_period, is_upgraded, revoked_at, signed_at, sha256, payload_id`
const SHA256 = hash('sha256', 'bench', 'buffer')

/** Adds the one signed payload that all rows reference. No benchmark reads it. */
function addPayload(db: Database): number | bigint {
  return db
    .prepare(`insert into signed_payloads (app_id, sha256, kind, source, codec, body, received_at)
      values ('bench', ?, 'transaction', 'bench', 0, x'00', 0)`)
    .run(SHA256).lastInsertRowid
}

/** Figures are known from the first notification of an app on. */
function hearApps(db: Database, payload: number | bigint): void {
  db.prepare(`insert into notifications (app_id, environment, uuid, type, signed_at, sha256, payload_id, origin, received_at)
    select id, 'production', 'heard', 'TEST', :at, :sha256, :payload, 'live', :at from apps`).run({
    at: BUSINESS_FROM,
    sha256: SHA256,
    payload,
  })
}

/**
 * Inserts transactions. `sort` moves them into the table in order of purchase, so that the subscriptions are interleaved
 * as Apple sends them. Call it last.
 */
export function openSales(db: Database) {
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "select name, sql from sqlite_schema where type = 'index' and tbl_name = 'transactions' and sql is not null",
    )
    .all()
  for (const { name } of indexes) db.exec(`drop index ${name}`)
  db.exec(`create temp table unsorted as select ${COLUMNS} from transactions`)
  const payload = addPayload(db)
  hearApps(db, payload)
  const insert = db.prepare(`insert into unsorted (${COLUMNS}) values (?, 'production', ?, ?, ?, 'pro',
    'Auto-Renewable Subscription', ?, 'PURCHASED', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)

  function add(
    { app_id, original_id, started_at }: Lineage,
    { currency, storefront }: Subscription,
    sale: Sale,
    id: string,
  ) {
    const { purchased_at, expires_at, is_trial, is_first } = sale
    insert.run(
      app_id,
      id,
      original_id,
      sale.product_id,
      is_first ? 'PURCHASE' : 'RENEWAL',
      sale.price_milli,
      currency,
      storefront,
      purchased_at,
      started_at,
      expires_at,
      expires_at,
      expires_at,
      is_trial ? purchased_at : null,
      is_trial || is_first ? null : purchased_at,
      ...(is_trial ? [1, 'FREE_TRIAL', 'P1W'] : [null, null, null]),
      sale.is_upgraded ? 1 : 0,
      sale.revoked_at,
      sale.revoked_at ?? purchased_at,
      SHA256,
      payload,
    )
  }

  function sort(): void {
    db.exec(`insert into transactions (${COLUMNS}) select ${COLUMNS} from unsorted order by purchased_at`)
    db.exec('drop table unsorted')
    for (const { sql } of indexes) db.exec(sql)
  }

  return { add, sort, payload }
}

/** Inserts the current state of a lineage, its customer, and its user. */
export function openStateRows(db: Database, payload: number | bigint) {
  const renewal =
    db.prepare(`insert into renewals (app_id, environment, original_transaction_id, signed_at, sha256,
    product_id, auto_renew_status, expiration_intent, in_billing_retry, payload_id)
    values (?, 'production', ?, ?, ?, ?, ?, ?, 0, ?)`)
  const subscriptionState =
    db.prepare(`insert into subscriptions (app_id, environment, original_transaction_id, transaction_id,
    product_id, group_id, ownership, storefront, price_milli, currency, offer_type, offer_discount, started_at,
    period_started_at, expires_at, in_billing_retry, auto_renew_status, expiration_intent, revoked_at)
    values (?, 'production', ?, ?, ?, 'pro', 'PURCHASED', ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`)
  const customer = db.prepare(`insert into customers (id, app_id, environment, original_transaction_id,
    original_purchased_at, canonical_id) values (?, ?, 'production', ?, ?, ?)`)
  const user =
    db.prepare(`insert into users (app_id, app_user_id, platform, attributes, proved_attributes, verification,
    created_at, seen_at) values (?, ?, 'ios', ?, '{}', 'unverified', ?, ?)`)
  const link = db.prepare(`insert into links (app_id, store, transaction_id, app_user_id, proofs, credential,
    created_at, updated_at) values (?, 'apple', ?, ?, '[]', 'publishable', ?, ?)`)
  const customerIdOf = ({ app_id, original_id }: Lineage): string =>
    customerId(app_id, 'production', original_id)

  return {
    subscriptionState(
      { app_id, original_id, started_at }: Lineage,
      { currency, storefront, sales, renewal_state }: Subscription,
      id: string,
    ) {
      const sale = sales.at(-1)
      if (!sale) return
      const { signed_at, auto_renew_status, intent } = renewal_state
      renewal.run(app_id, original_id, signed_at, SHA256, sale.product_id, auto_renew_status, intent, payload)
      subscriptionState.run(
        app_id,
        original_id,
        id,
        sale.product_id,
        storefront,
        sale.price_milli,
        currency,
        ...(sale.is_trial ? [1, 'FREE_TRIAL'] : [null, null]),
        started_at,
        sale.purchased_at,
        sale.expires_at,
        auto_renew_status,
        intent,
        sale.revoked_at,
      )
    },
    /** Inserts the renewal info of each sale but the last. */
    pastRenewals({ app_id, original_id }: Lineage, { sales }: Subscription): void {
      for (const { product_id, purchased_at } of sales.slice(0, -1))
        renewal.run(app_id, original_id, purchased_at, SHA256, product_id, 1, null, payload)
    },
    customer(lineage: Lineage, leader: Lineage): void {
      customer.run(
        customerIdOf(lineage),
        lineage.app_id,
        lineage.original_id,
        lineage.started_at,
        customerIdOf(leader),
      )
    },
    user({ app_id, original_id, started_at }: Lineage, number: number): void {
      const attributes = JSON.stringify({ plan: number % 5 === 0 ? 'pro' : 'free', sessions: number % 40 })
      user.run(app_id, userId(number), attributes, started_at, started_at)
      link.run(app_id, original_id, userId(number), started_at, started_at)
    },
  }
}
