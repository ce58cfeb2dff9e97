/** Finds lost, partial and invented rows in a database, given the calls that were sent to the server. */
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import type { Held, Link, Model, User } from './model.ts'

/** Each query selects the ids of rows that lack a related row. */
const HALVES: Record<string, string> = {
  'a notification without its payload': `
    select uuid from notifications where payload_id not in (select id from signed_payloads)`,
  'a notification without its event': `
    select uuid from notifications where (uuid, app_id, environment) not in
      (select cause, app_id, environment from events where environment is not null)`,
  'a notification without its customer': `
    select uuid from notifications where original_transaction_id is not null
      and (app_id, environment, original_transaction_id) not in
        (select app_id, environment, original_transaction_id from customers)`,
  'a transaction without its event': `
    select transaction_id from transactions where (transaction_id, app_id, environment) not in
      (select cause, app_id, environment from events where type = 'transaction.recorded')`,
  'a recorded event without its transaction': `
    select cause from events where type = 'transaction.recorded' and (cause, app_id, environment) not in
      (select transaction_id, app_id, environment from transactions)`,
  'a transaction without its customer': `
    select transaction_id from transactions where (app_id, environment, original_transaction_id) not in
      (select app_id, environment, original_transaction_id from customers)`,
  'a transaction of a subscription without the subscription': `
    select transaction_id from transactions where kind = 'Auto-Renewable Subscription'
      and (app_id, environment, original_transaction_id) not in
        (select app_id, environment, original_transaction_id from subscriptions)`,
  'a subscription without its transaction': `
    select original_transaction_id from subscriptions where (app_id, environment, transaction_id) not in
      (select app_id, environment, transaction_id from transactions)`,
  'an event of a customer that does not exist': `
    select id from events where customer_id is not null and customer_id not in (select id from customers)`,
  'a customer whose canonical one does not exist': `
    select id from customers where canonical_id not in (select id from customers)`,
  'a user without its event': `
    select app_user_id from users where app_id || '/' || app_user_id not in
      (select cause from events where type = 'customer.identified')`,
  'an identified event without its user': `
    select cause from events where type = 'customer.identified' and cause not in
      (select app_id || '/' || app_user_id from users)`,
  'a link that is not what its history says': `
    select id from links l where app_user_id is not coalesce(
      (select to_app_user_id from link_history where link_id = l.id order by id desc limit 1), app_user_id)`,
  'a history that does not hang together': `
    select h.id from link_history h join link_history n on n.id =
      (select min(id) from link_history where link_id = h.link_id and id > h.id)
    where h.to_app_user_id is not n.from_app_user_id`,
  'a link without its event': `
    select transaction_id from links where (app_id, transaction_id) not in
      (select app_id, subject from events where type = 'customer.linked')`,
  'a link event without its history': `
    select cause from events where type in ('customer.linked', 'customer.moved')
      and cause not in (select 'link/' || id from links union
        select 'link/' || link_id || '/' || id from link_history)`,
  'a change of a link that changed nothing': `
    select id from link_history where from_app_user_id = to_app_user_id
      and from_proved_app_user_id is to_proved_app_user_id and from_proofs = to_proofs`,
}

/** Returns the faults of `file`. */
export function faultsIn(file: string, model: Model): string[] {
  const db = new Database(file, { readonly: true })
  try {
    const broken = [db.pragma('integrity_check', { simple: true }), db.pragma('foreign_key_check')]
    return [
      ...(isDeepStrictEqual(broken, ['ok', []]) ? [] : [`the file is damaged: ${JSON.stringify(broken)}`]),
      ...Object.entries(HALVES).flatMap(([name, sql]) =>
        db
          .prepare(sql)
          .pluck()
          .all()
          .map((row) => `${name}: ${row}`),
      ),
      ...signedFaults(db, model),
      ...notificationFaults(db, model),
      ...differences('user', usersOf(db), model.users),
      ...differences('link', linksOf(db), model.links),
    ]
  } finally {
    db.close()
  }
}

/** Checks that each answered payload is stored for its app with its notification, and that each stored one was sent. */
function signedFaults(db: Database.Database, { signed }: Model): string[] {
  const rows = db
    .prepare<[], { sha256: string; bundle_id: string }>(
      'select lower(hex(sha256)) as sha256, bundle_id from signed_payloads join apps on apps.id = app_id',
    )
    .all()
  const stored = new Map(rows.map((row) => [row.sha256, row.bundle_id]))
  const uuids = new Set(db.prepare('select uuid from notifications').pluck().all())
  const invented = [...stored.keys()].filter((hash) => !signed.has(hash))
  return [
    ...invented.map((hash) => `the payload ${hash} was never sent`),
    ...[...signed].flatMap(([hash, { bundle_id, uuid, answered }]) => {
      const bundle = stored.get(hash)
      if (bundle === undefined) return answered ? [`the payload ${hash} was answered and is lost`] : []
      if (bundle !== bundle_id) return [`the payload ${hash} is in ${bundle}, not in ${bundle_id}`]
      return uuid !== null && !uuids.has(uuid) ? [`the payload ${hash} has no notification ${uuid}`] : []
    }),
  ]
}

/** Checks that each stored notification has its transaction and its renewal. */
function notificationFaults(db: Database.Database, { notifications }: Model): string[] {
  const uuids = db.prepare<[], string>('select uuid from notifications').pluck().all()
  const transactions = new Set(db.prepare('select transaction_id from transactions').pluck().all())
  const renewals = new Set(
    db.prepare("select original_transaction_id || ' ' || signed_at from renewals").pluck().all(),
  )
  return uuids.flatMap((uuid) => {
    const sent = notifications.get(String(uuid))
    if (!sent) return [`the notification ${uuid} was never sent`]
    const { signedTransactionInfo: transaction, signedRenewalInfo: renewal } = sent.payload.data ?? {}
    const faults: string[] = []
    if (transaction && !transactions.has(transaction.transactionId))
      faults.push(`the notification ${uuid} lacks its transaction ${transaction.transactionId}`)
    if (renewal && !renewals.has(`${renewal.originalTransactionId} ${renewal.signedDate}`))
      faults.push(`the notification ${uuid} lacks its renewal`)
    return faults
  })
}

function usersOf(db: Database.Database): Map<string, User> {
  const rows = db
    .prepare<[], Omit<User, 'attributes'> & { attributes: string; name: string }>(
      `select bundle_id || ' ' || app_user_id as name, os_version, locale, attributes
       from users join apps on apps.id = app_id`,
    )
    .all()
  return new Map(
    rows.map(({ name, attributes, ...row }) => [name, { ...row, attributes: JSON.parse(attributes) }]),
  )
}

function linksOf(db: Database.Database): Map<string, Link> {
  const rows = db
    .prepare<[], Link & { name: string }>(
      `select bundle_id || ' ' || store || ' ' || transaction_id as name, app_user_id, proved_app_user_id
       from links join apps on apps.id = app_id`,
    )
    .all()
  return new Map(rows.map(({ name, ...row }) => [name, row]))
}

/** Checks that each row has the state of its last answered call, or of a call that got no answer. */
function differences<T>(what: string, found: Map<string, T>, expected: Map<string, Held<T>>): string[] {
  const invented = [...found.keys()].filter((name) => !expected.has(name))
  return [
    ...invented.map((name) => `the ${what} ${name} was never sent`),
    ...[...expected].flatMap(([name, { now, next }]) => {
      const is = found.get(name) ?? null
      if (isDeepStrictEqual(is, now) || (next !== null && isDeepStrictEqual(is, next))) return []
      return [`the ${what} ${name} is ${JSON.stringify(is)}, not ${JSON.stringify(now)}`]
    }),
  ]
}
