/** Reads one lineage of a customer: current state, timeline and transactions. */
import type { LineageKey } from '../../ledger/ledger.ts'
import type { SubscriptionRow } from '../../ledger/subscription.ts'
import { stateAt } from '../../ledger/subscription.ts'
import type { TransactionRow } from '../../ledger/transactions.ts'
import { bound, type Store } from '../../store/store.ts'
import { type Flow, flowInBase, flowsOf, isRefundFlow } from '../lineage/flows.ts'
import { type ToBase, withLevels } from '../lineage/movements.ts'
import { proceedsOfFlow } from '../lineage/proceeds.ts'
import type { AppSettings, SettingsOf } from '../lineage/settings.ts'
import { type RenewalFact, timelineOf } from '../lineage/timeline.ts'
import { type RefundReason, reasonOf } from '../refunds/refund_rows.ts'
import { openRequestReasons } from '../refunds/request_reasons.ts'
import { netProceeds } from './charges.ts'

/** Whether an appAccountToken of an app belongs to an erased user. */
export type IsErased = (app_id: string, token: string) => boolean

type Deps = { store: Store; settingsOf: SettingsOf; isErased: IsErased }

export function openHistories({ store, settingsOf, isErased }: Deps) {
  const lineage = `app_id = ${bound} and environment = ${bound} and original_transaction_id = ${bound}`
  const subscription = store.prepare<LineageKey, SubscriptionRow>(`
    select * from subscriptions where app_id = :app_id and environment = :environment
      and original_transaction_id = :original_transaction_id`)
  const transactions = store.prepare<[string, string, string], TransactionRow>(
    `select * from transactions where ${lineage} order by purchased_at desc, transaction_id desc`,
  )
  const renewals = store.prepare<[string, string, string], RenewalFact>(`
    select signed_at, grace_until_at, expiration_intent, in_billing_retry, auto_renew_status
    from renewals where ${lineage} order by signed_at, sha256`)
  const requestReasonsOf = openRequestReasons(store)

  /** Reads one lineage as of an instant; null if its app no longer exists. */
  function historyOf(key: LineageKey, at: number) {
    const settings = settingsOf(key.app_id)
    if (settings === null) return null
    const names = [key.app_id, key.environment, key.original_transaction_id] as const
    const rows = transactions.all(...names)
    const row = subscription.get(key)
    const hasFirstTransaction = rows.some(
      ({ transaction_id }) => transaction_id === key.original_transaction_id,
    )
    const flows = Map.groupBy(flowsOf(rows, hasFirstTransaction), ({ transaction_id }) => transaction_id)
    const [requestReasons] = requestReasonsOf([key])
    return {
      subscription: row ? apiSubscription(row, at) : null,
      timeline: apiTimeline(rows, renewals.all(...names), settings),
      transactions: rows.map((one) =>
        apiTransaction(
          redactErased(one),
          apiMoney(flows.get(one.transaction_id) ?? [], settings),
          reasonOf(requestReasons?.get(one.transaction_id), one.revocation_reason),
        ),
      ),
    }
  }

  function redactErased(row: TransactionRow): TransactionRow {
    const { app_id, app_account_token: token } = row
    return token !== null && isErased(app_id, token) ? { ...row, app_account_token: null } : row
  }

  return { historyOf }
}

function apiMoney(flows: readonly Flow[], settings: AppSettings) {
  const charged = flows.find((one) => !isRefundFlow(one))
  return {
    base_milli: inBase(charged, settings.toBase),
    refunded: apiRefund(flows, 'refund', settings),
    prorated: apiRefund(flows, 'proration', settings),
    proceeds: charged ? netProceeds(charged, flows, settings) : null,
  }
}

const inBase = (flow: Flow | undefined, toBase: ToBase): number | null =>
  flow === undefined || flow.kind === 'unpriced' ? null : flowInBase(flow, toBase)

function apiRefund(flows: readonly Flow[], kind: Flow['kind'], settings: AppSettings) {
  const flow = flows.find((one) => one.kind === kind)
  if (flow === undefined) return null
  const { at, milli } = flow
  const proceeds_base_milli = proceedsOfFlow(flow, settings)?.base_milli ?? null
  return { at, milli, base_milli: inBase(flow, settings.toBase), proceeds_base_milli }
}

function apiSubscription(row: SubscriptionRow, at: number) {
  const { product_id, group_id, ownership, price_milli, currency, started_at, period_started_at } = row
  return {
    state: stateAt(row, at),
    product_id,
    group_id,
    ownership,
    price_milli,
    currency,
    started_at,
    period_started_at,
    expires_at: row.expires_at,
    grace_until_at: row.grace_until_at,
    committed_until_at: row.committed_until_at,
    in_billing_retry: row.in_billing_retry === 1,
    auto_renew: row.auto_renew_status === null ? null : row.auto_renew_status === 1,
    next_product_id: row.next_product_id,
    renewal_price_milli: row.renewal_price_milli,
    expiration_intent: row.expiration_intent,
    revoked_at: row.revoked_at,
  }
}

function apiTimeline(
  transactions: readonly TransactionRow[],
  renewals: readonly RenewalFact[],
  { periodOf, factors, toBase }: AppSettings,
) {
  return withLevels(timelineOf(transactions, renewals, periodOf), factors, toBase).map(
    ({ level, ending, storefront, ...segment }) => ({
      ...segment,
      country: storefront,
      ending,
      mrr_milli: level.isUnknown ? null : level.milli,
      mrr_base_milli: level.isUnknown || !level.isConverted ? null : level.base_milli,
    }),
  )
}

function apiTransaction<Money extends { refunded: object | null }>(
  row: TransactionRow,
  money: Money,
  refund_reason: RefundReason,
) {
  const { transaction_id, original_transaction_id, product_id, kind, reason, ownership, quantity } = row
  return {
    transaction_id,
    original_transaction_id,
    product_id,
    kind,
    reason,
    ownership,
    quantity,
    country: row.storefront,
    purchased_at: row.purchased_at,
    expires_at: row.expires_at,
    revoked_at: row.revoked_at,
    is_upgraded: row.is_upgraded === 1,
    offer_type: row.offer_type,
    offer_id: row.offer_id,
    offer_discount: row.offer_discount,
    offer_period: row.offer_period,
    app_account_token: row.app_account_token,
    price_milli: row.price_milli,
    currency: row.currency,
    ...money,
    refunded: money.refunded && { ...money.refunded, reason: refund_reason },
  }
}
