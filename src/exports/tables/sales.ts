/** The exported tables of what Apple reported: customers, subscriptions, transactions, notifications and events. */
import { type ExportTable, integer, text } from './table.ts'

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
    text('id', 'c.id', 'The id of the lineage, which always resolves to a customer'),
    text('customer_id', 'c.canonical_id', 'The id of the customer to whom the lineage belongs now'),
    app('c'),
    environment('c'),
    text('original_transaction_id', 'c.original_transaction_id', 'Apple’s id of the first purchase'),
    integer('original_purchased_at', 'c.original_purchased_at', 'When the first purchase was made'),
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
    text('original_transaction_id', 's.original_transaction_id', 'Apple’s id of the first purchase'),
    text('transaction_id', 's.transaction_id', 'The transaction of the current period'),
    text('product_id', 's.product_id', 'The product of the current period'),
    text('group_id', 's.group_id', 'The subscription group'),
    text('ownership', 's.ownership', '`PURCHASED` or `FAMILY_SHARED`'),
    text('country', 's.storefront', 'The storefront, a code of three letters'),
    integer('price_milli', 's.price_milli', 'The price of the current period, in thousandths of `currency`'),
    text('currency', 's.currency', 'The currency of the prices'),
    integer('offer_type', 's.offer_type', 'Apple’s type of the offer of the current period'),
    text('offer_discount', 's.offer_discount', 'Apple’s discount type of that offer'),
    integer('started_at', 's.started_at', 'When the subscription was first purchased'),
    integer('period_started_at', 's.period_started_at', 'When the current period began'),
    integer('expires_at', 's.expires_at', 'When the current period ends'),
    integer('committed_until_at', 's.committed_until_at', 'Until when the customer is committed to pay'),
    integer('grace_until_at', 's.grace_until_at', 'When the grace period ends, in a grace period'),
    integer('in_billing_retry', 's.in_billing_retry', '1 while Apple tries to charge the customer again'),
    integer('auto_renew', 's.auto_renew_status', '1 if it will renew, 0 if not; null if unknown'),
    text('next_product_id', 's.next_product_id', 'The product of the next period'),
    integer('renewal_price_milli', 's.renewal_price_milli', 'The price of the next period'),
    integer('expiration_intent', 's.expiration_intent', 'Apple’s reason why it expired'),
    integer('revoked_at', 's.revoked_at', 'When Apple refunded or revoked the current period'),
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
    text('transaction_id', 't.transaction_id', 'Apple’s id of the transaction'),
    text('original_transaction_id', 't.original_transaction_id', 'Apple’s id of the first purchase'),
    text('product_id', 't.product_id', 'The product'),
    text('group_id', 't.group_id', 'The subscription group'),
    text('kind', 't.kind', 'Apple’s type of the product, such as `Auto-Renewable Subscription`'),
    text('reason', 't.reason', '`PURCHASE` or `RENEWAL`'),
    text('ownership', 't.ownership', '`PURCHASED` or `FAMILY_SHARED`'),
    integer('quantity', 't.quantity', 'The number of items'),
    integer('price_milli', 't.price_milli', 'The price, in thousandths of `currency`; null if unknown'),
    text('currency', 't.currency', 'The currency of the price'),
    text('country', 't.storefront', 'The storefront, a code of three letters'),
    integer('purchased_at', 't.purchased_at', 'When the customer was charged'),
    integer('original_purchased_at', 't.original_purchased_at', 'When the first purchase was made'),
    integer('expires_at', 't.expires_at', 'When the period ends'),
    integer('offer_type', 't.offer_type', 'Apple’s type of the offer'),
    text('offer_id', 't.offer_id', 'The id of the offer'),
    text('offer_discount', 't.offer_discount', 'Apple’s discount type of the offer'),
    text('offer_period', 't.offer_period', 'The duration of the offer (ISO 8601)'),
    integer('is_upgraded', 't.is_upgraded', '1 if an upgrade replaced it'),
    integer('revoked_at', 't.revoked_at', 'When Apple refunded or revoked it'),
    integer('revocation_reason', 't.revocation_reason', 'Apple’s reason of the refund'),
    text('revocation_type', 't.revocation_type', 'Apple’s type of the refund'),
    integer('revocation_percentage', 't.revocation_percentage', 'The part refunded, in thousandths of 100 %'),
    text('web_order_line_item_id', 't.web_order_line_item_id', 'Apple’s id of the subscription period'),
    {
      ...text(
        'app_account_token',
        't.app_account_token',
        'The token that the app passed; null if it is the id of an erased user',
      ),
      redacted: { by: 'account_token', given: ['t.app_id', 't.app_account_token'] },
    },
    text('app_transaction_id', 't.app_transaction_id', 'Apple’s id of the customer’s download of the app'),
    integer('signed_at', 't.signed_at', 'When Apple signed this version'),
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
    text('uuid', 'n.uuid', 'Apple’s notificationUUID'),
    text('type', 'n.type', 'Apple’s type, such as `DID_RENEW`'),
    text('subtype', 'n.subtype', 'Apple’s subtype'),
    text('original_transaction_id', 'n.original_transaction_id', 'The lineage that it concerns'),
    integer('status', 'n.status', 'Apple’s status of the subscription'),
    text('origin', 'n.origin', '`live`, `recovered` or `backfill`'),
    text('sha256', 'lower(hex(n.sha256))', 'The SHA-256 of the signed text'),
    text('problem', 'n.problem', 'What of its content could not be read'),
    integer('signed_at', 'n.signed_at', 'When Apple signed it'),
    integer('received_at', 'n.received_at', 'When it arrived'),
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
    integer('seq', 'e.seq', 'The position in the feed'),
    text('id', 'e.id', 'The id of the event, which webhooks send as `webhook-id`'),
    text('organization_id', 'e.organization_id', 'The organization'),
    text('app_id', 'e.app_id', 'The app; null for an event of the organization'),
    environment('e'),
    text('type', 'e.type', 'The type, such as `subscription.renewed`'),
    text('origin', 'e.origin', '`live`, `recovered` or `backfill`'),
    text('customer_id', 'e.customer_id', 'The customer when the event was recorded'),
    text('subject', 'e.subject', 'The original transaction id that the event concerns'),
    {
      ...text('cause', 'e.cause', 'Apple’s notificationUUID, or a transaction id'),
      redacted: { by: 'event_cause', given: ['e.app_id', 'e.type', 'e.cause'] },
    },
    {
      ...text('data', 'e.body', 'The content of the event, as JSON ([docs/api.md](api.md))'),
      redacted: { by: 'event_data', given: ['e.app_id', 'e.type', 'e.cause', 'e.body'] },
    },
    integer('occurred_at', 'e.occurred_at', 'When it happened'),
    integer('signed_at', 'e.signed_at', 'When Apple signed its cause'),
    integer('recorded_at', 'e.recorded_at', 'When it was recorded'),
  ],
  key: ['seq'],
  page: ['e.seq'],
  app: 'e.app_id',
  organization: 'e.organization_id',
  tracking: { kind: 'appended', by: 'event', source: 'events' },
}

export const SALES_TABLES = [customers, subscriptions, transactions, notifications, events]
