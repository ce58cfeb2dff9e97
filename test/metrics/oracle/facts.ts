/** The oracle’s facts: the raw tables of one environment of some apps. */
import type { Store } from '../../../src/store/store.ts'

/** The newest version of a transaction that Apple signed. */
export type Bought = {
  app_id: string
  original_transaction_id: string
  transaction_id: string
  product_id: string
  kind: string | null
  group_id: string | null
  reason: string | null
  ownership: string | null
  quantity: number
  price_milli: number | null
  currency: string | null
  storefront: string | null
  purchased_at: number
  expires_at: number | null
  earliest_expires_at: number | null
  offer_type: number | null
  offer_discount: string | null
  offer_period: string | null
  is_upgraded: number
  revoked_at: number | null
  revocation_type: string | null
  revocation_percentage: number | null
  /** JSON: the reversed refunds, each with its instants. */
  reversed_refunds: string | null
  billing_plan: string | null
  commitment: string | null
}

export type Info = {
  app_id: string
  original_transaction_id: string
  signed_at: number
  grace_until_at: number | null
  expiration_intent: number | null
  in_billing_retry: number | null
  auto_renew_status: number | null
}

/** All facts of one original transaction id. */
export type Lineage = {
  name: string
  app_id: string
  original_transaction_id: string
  /** In order of purchase. */
  bought: Bought[]
  infos: Info[]
  /** Whether the first transaction is known. */
  is_whole: boolean
}

export type Place = { app_id: string | null; environment: 'production' | 'sandbox' }

const nameOf = ({ app_id, original_transaction_id }: Pick<Bought, 'app_id' | 'original_transaction_id'>) =>
  `${app_id} ${original_transaction_id}`

/** All lineages, the oldest purchase first. Ids are numeric strings. */
export function lineagesIn(store: Store, { app_id, environment }: Place): Lineage[] {
  const where = 'environment = ? and (app_id = ? or ? is null)'
  const bought = store
    .prepare<unknown[], Bought>(`select * from transactions where ${where}
      order by purchased_at, length(transaction_id), transaction_id`)
    .all(environment, app_id, app_id)
  const infos = store
    .prepare<unknown[], Info>(`select * from renewals where ${where} order by signed_at, sha256`)
    .all(environment, app_id, app_id)
  const infosOf = Map.groupBy(infos, nameOf)
  return [...Map.groupBy(bought, nameOf)].map(([name, own]) => lineageOf(name, own, infosOf.get(name) ?? []))
}

/** A lineage from facts of any source. */
export function lineageOf(name: string, bought: Bought[], infos: Info[]): Lineage {
  const [app_id = '', original_transaction_id = ''] = name.split(' ')
  const is_whole = bought.some((one) => one.transaction_id === original_transaction_id)
  return { name, app_id, original_transaction_id, bought, infos, is_whole }
}

export function periodsIn(store: Store): Map<string, string> {
  const rows = store
    .prepare<[], { app_id: string; product_id: string; period: string }>(
      'select app_id, product_id, period from products where period is not null',
    )
    .all()
  return new Map(rows.map(({ app_id, product_id, period }) => [`${app_id} ${product_id}`, period]))
}

/** The customer of each lineage: lineages that Apple’s ids connect. */
export function customersIn(store: Store): Map<string, string> {
  const rows = store
    .prepare<[], { app_id: string; environment: string; original_transaction_id: string; id: string }>(
      'select app_id, environment, original_transaction_id, canonical_id as id from customers',
    )
    .all()
  return new Map(rows.map((row) => [`${row.environment} ${nameOf({ ...row })}`, row.id]))
}

/** The rate of a currency on a day per dollar, in billionths: that of the last day with one. */
export function openExchange(store: Store) {
  const rows = store
    .prepare<[], { currency: string; rated_on: string; nano: number }>(
      'select currency, rated_on, per_usd_nano as nano from rates order by rated_on',
    )
    .all()
  const known = Map.groupBy(rows, ({ currency }) => currency)
  return (currency: string, on: string): bigint | null => {
    if (currency === 'USD') return 1_000_000_000n
    const nano = known.get(currency)?.findLast(({ rated_on }) => rated_on <= on)?.nano
    return nano === undefined ? null : BigInt(nano)
  }
}
