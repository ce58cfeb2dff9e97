/** The exported tables of what Apple reported: customers, subscriptions, transactions, notifications and events. */
import { columnsOf, type ExportTable, integer, text } from './table.ts'

// The columns of the tables, by the aliases of `from`.
const c = columnsOf('c')
const e = columnsOf('e')
const n = columnsOf('n')
const s = columnsOf('s')
const t = columnsOf('t')

const app = (alias: string) => text('app_id', `${alias}.app_id`, 'The app')
const environment = (alias: string) =>
  text('environment', `${alias}.environment`, '`production` or `sandbox`')

const customers: ExportTable = {
  name: 'customers',
  about:
    'One row for each first purchase (a lineage). Rows with the same `customer_id` are one customer. A merge changes `customer_id`.',
  from: 'main.customers c',
  where: null,
  columns: [
    c.text('id', 'The id of the lineage, which always resolves to a customer'),
    text('customer_id', 'c.canonical_id', 'The id of the customer to whom the lineage belongs now'),
    app('c'),
    environment('c'),
    c.text('original_transaction_id', 'Apple’s id of the first purchase'),
    c.integer('original_purchased_at', 'When the first purchase was made'),
  ],
  key: ['id'],
  page: ['c.id'],
  app: 'c.app_id',
  organization: null,
  tracking: { kind: 'logged', source: 'customers', key: ['id'] },
}

const subscriptions: ExportTable = {
  name: 'subscriptions',
  about: 'The state of each subscription according to the newest facts.',
  from: 'main.subscriptions s',
  where: null,
  columns: [
    app('s'),
    environment('s'),
    s.text('original_transaction_id', 'Apple’s id of the first purchase'),
    s.text('transaction_id', 'The transaction of the current period'),
    s.text('product_id', 'The product of the current period'),
    s.text('group_id', 'The subscription group'),
    s.text('ownership', '`PURCHASED` or `FAMILY_SHARED`'),
    text('country', 's.storefront', 'The storefront, a code of three letters'),
    s.integer('price_milli', 'The price of the current period, in thousandths of `currency`'),
    s.text('currency', 'The currency of the prices'),
    s.integer('offer_type', 'Apple’s type of the offer of the current period'),
    s.text('offer_discount', 'Apple’s discount type of that offer'),
    s.integer('started_at', 'When the subscription was first purchased'),
    s.integer('period_started_at', 'When the current period began'),
    s.integer('expires_at', 'When the current period ends'),
    s.integer('committed_until_at', 'Until when the customer is committed to pay'),
    s.integer('grace_until_at', 'When the grace period ends, in a grace period'),
    s.integer('in_billing_retry', '1 while Apple tries to charge the customer again'),
    integer('auto_renew', 's.auto_renew_status', '1 if it will renew, 0 if not; null if unknown'),
    s.text('next_product_id', 'The product of the next period'),
    s.integer('renewal_price_milli', 'The price of the next period'),
    s.integer('expiration_intent', 'Apple’s reason why it expired'),
    s.integer('revoked_at', 'When Apple refunded or revoked the current period'),
  ],
  key: ['app_id', 'environment', 'original_transaction_id'],
  page: ['s.app_id', 's.environment', 's.original_transaction_id'],
  app: 's.app_id',
  organization: null,
  tracking: {
    kind: 'logged',
    source: 'subscriptions',
    key: ['app_id', 'environment', 'original_transaction_id'],
  },
}

const transactions: ExportTable = {
  name: 'transactions',
  about: 'Every transaction, in the newest version that Apple signed.',
  from: 'main.transactions t',
  where: null,
  columns: [
    app('t'),
    environment('t'),
    t.text('transaction_id', 'Apple’s id of the transaction'),
    t.text('original_transaction_id', 'Apple’s id of the first purchase'),
    t.text('product_id', 'The product'),
    t.text('group_id', 'The subscription group'),
    t.text('kind', 'Apple’s type of the product, such as `Auto-Renewable Subscription`'),
    t.text('reason', '`PURCHASE` or `RENEWAL`'),
    t.text('ownership', '`PURCHASED` or `FAMILY_SHARED`'),
    t.integer('quantity', 'The number of items'),
    t.integer('price_milli', 'The price, in thousandths of `currency`; null if unknown'),
    t.text('currency', 'The currency of the price'),
    text('country', 't.storefront', 'The storefront, a code of three letters'),
    t.integer('purchased_at', 'When the customer was charged'),
    t.integer('original_purchased_at', 'When the first purchase was made'),
    t.integer('expires_at', 'When the period ends'),
    t.integer('offer_type', 'Apple’s type of the offer'),
    t.text('offer_id', 'The id of the offer'),
    t.text('offer_discount', 'Apple’s discount type of the offer'),
    t.text('offer_period', 'The duration of the offer (ISO 8601)'),
    t.integer('is_upgraded', '1 if an upgrade replaced it'),
    t.integer('revoked_at', 'When Apple refunded or revoked it'),
    t.integer('revocation_reason', 'Apple’s reason of the refund'),
    t.text('revocation_type', 'Apple’s type of the refund'),
    t.integer('revocation_percentage', 'The part refunded, in thousandths of 100 %'),
    t.text('web_order_line_item_id', 'Apple’s id of the subscription period'),
    {
      ...t.text('app_account_token', 'The token that the app passed; null if it is the id of an erased user'),
      redacted: { by: 'account_token', given: ['t.app_id', 't.app_account_token'] },
    },
    t.text('app_transaction_id', 'Apple’s id of the customer’s download of the app'),
    t.integer('signed_at', 'When Apple signed this version'),
  ],
  key: ['app_id', 'environment', 'transaction_id'],
  page: ['t.app_id', 't.environment', 't.transaction_id'],
  app: 't.app_id',
  organization: null,
  tracking: { kind: 'logged', source: 'transactions', key: ['app_id', 'environment', 'transaction_id'] },
}

const notifications: ExportTable = {
  name: 'notifications',
  about:
    'Every notification from Apple, without its signed text. Apple may sign one again; its row then has the newest text.',
  from: 'main.notifications n',
  where: null,
  columns: [
    app('n'),
    environment('n'),
    n.text('uuid', 'Apple’s notificationUUID'),
    n.text('type', 'Apple’s type, such as `DID_RENEW`'),
    n.text('subtype', 'Apple’s subtype'),
    n.text('original_transaction_id', 'The lineage that it concerns'),
    n.integer('status', 'Apple’s status of the subscription'),
    n.text('origin', '`live`, `recovered` or `backfill`'),
    text('sha256', 'lower(hex(n.sha256))', 'The SHA-256 of the signed text'),
    n.text('problem', 'What of its content could not be read'),
    n.integer('signed_at', 'When Apple signed it'),
    n.integer('received_at', 'When it arrived'),
  ],
  key: ['app_id', 'environment', 'uuid'],
  page: ['n.payload_id'],
  app: 'n.app_id',
  organization: null,
  tracking: { kind: 'appended', by: 'payload', source: null },
}

const events: ExportTable = {
  name: 'events',
  about:
    'The feed, in the order of `seq`. An event never changes, except that erasing a user removes the user from it.',
  from: 'main.events e',
  where: null,
  columns: [
    e.integer('seq', 'The position in the feed'),
    e.text('id', 'The id of the event, which webhooks send as `webhook-id`'),
    e.text('organization_id', 'The organization'),
    e.text('app_id', 'The app; null for an event of the organization'),
    environment('e'),
    e.text('type', 'The type, such as `subscription.renewed`'),
    e.text('origin', '`live`, `recovered` or `backfill`'),
    e.text('customer_id', 'The customer when the event was recorded'),
    e.text('subject', 'The original transaction id that the event concerns'),
    {
      ...e.text('cause', 'Apple’s notificationUUID, or a transaction id'),
      redacted: { by: 'event_cause', given: ['e.app_id', 'e.type', 'e.cause'] },
    },
    {
      ...text('data', 'e.body', 'The content of the event, as JSON ([docs/api.md](api.md))'),
      redacted: { by: 'event_data', given: ['e.app_id', 'e.type', 'e.cause', 'e.body'] },
    },
    e.integer('occurred_at', 'When it happened'),
    e.integer('signed_at', 'When Apple signed its cause'),
    e.integer('recorded_at', 'When it was recorded'),
  ],
  key: ['seq'],
  page: ['e.seq'],
  app: 'e.app_id',
  organization: 'e.organization_id',
  tracking: { kind: 'appended', by: 'event', source: 'events' },
}

export const SALES_TABLES = [customers, subscriptions, transactions, notifications, events]
