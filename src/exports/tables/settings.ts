/** The exported tables of what the owner connected and wrote, of exchange rates, and of customers’ figures. */
import { type ExportTable, integer, text } from './table.ts'

const WHOLE = { kind: 'whole' } as const

const organizations: ExportTable = {
  name: 'organizations',
  about: 'The organizations of this instance.',
  from: 'main.organizations o',
  where: null,
  columns: [
    text('id', 'o.id', 'The id'),
    text('slug', 'o.slug', 'The short name of the configuration'),
    text('name', 'o.name', 'The name'),
    text('time_zone', 'o.time_zone', 'The time zone of its days'),
    text('currency', 'o.currency', 'The currency of its figures'),
    integer('created_at', 'o.created_at', 'When it was added'),
    integer('gone_at', 'o.gone_at', 'When it was removed from the configuration'),
  ],
  key: ['id'],
  page: ['o.id'],
  app: null,
  organization: 'o.id',
  tracking: WHOLE,
}

const apps: ExportTable = {
  name: 'apps',
  about: 'The connected apps.',
  from: 'main.apps a',
  where: null,
  columns: [
    text('id', 'a.id', 'The id, which other tables call `app_id`'),
    text('organization_id', 'a.organization_id', 'The organization'),
    text('bundle_id', 'a.bundle_id', 'The bundle id'),
    text('name', 'a.name', 'The name'),
    integer('apple_id', 'a.apple_id', 'Apple’s id of the app'),
    text('android_package', 'a.android_package', 'The application id on Google Play'),
    text('sku', 'a.sku', 'The SKU'),
    integer('created_at', 'a.created_at', 'When it was connected'),
    integer('gone_at', 'a.gone_at', 'When it was removed'),
  ],
  key: ['id'],
  page: ['a.id'],
  app: 'a.id',
  organization: null,
  tracking: WHOLE,
}

const products: ExportTable = {
  name: 'products',
  about: 'The subscriptions that the apps sell.',
  from: 'main.products p',
  where: null,
  columns: [
    text('app_id', 'p.app_id', 'The app'),
    text('product_id', 'p.product_id', 'The product id'),
    text('apple_id', 'p.apple_id', 'Apple’s number of the product'),
    text('name', 'p.name', 'The name'),
    text('group_id', 'p.group_id', 'The subscription group'),
    text('group_name', 'p.group_name', 'The name of the group'),
    integer('group_level', 'p.group_level', 'The level in the group, 1 the highest'),
    text('period', 'p.period', 'The duration of a period (ISO 8601)'),
    integer('created_at', 'p.created_at', 'When it was first seen'),
    integer('gone_at', 'p.gone_at', 'When Apple no longer listed it'),
  ],
  key: ['app_id', 'product_id'],
  page: ['p.app_id', 'p.product_id'],
  app: 'p.app_id',
  organization: null,
  tracking: WHOLE,
}

const annotations: ExportTable = {
  name: 'annotations',
  about: 'The notes on days of the charts. Those that were deleted are not included.',
  from: 'main.annotations n',
  where: 'n.deleted_at is null',
  columns: [
    text('id', 'n.id', 'The id'),
    text('organization_id', 'n.organization_id', 'The organization'),
    text('app_id', 'n.app_id', 'The app; null for a note about all apps'),
    text('annotated_on', 'n.annotated_on', 'The day'),
    text('text', 'n.text', 'The text'),
    text('source', 'n.source', 'Who wrote it: `owner`, `token`, or Apple’s `version` or `price`'),
    integer('created_at', 'n.created_at', 'When it was added'),
    integer('updated_at', 'n.updated_at', 'When it last changed'),
  ],
  key: ['id'],
  page: ['n.id'],
  app: 'n.app_id',
  organization: 'n.organization_id',
  tracking: WHOLE,
}

const rates: ExportTable = {
  name: 'rates',
  about: 'Exchange rates. A day without a row has the rate of the last day before it.',
  from: 'main.rates r',
  where: null,
  columns: [
    text('currency', 'r.currency', 'The currency'),
    text('rated_on', 'r.rated_on', 'The day'),
    integer('per_usd_nano', 'r.per_usd_nano', 'Billionths of the currency for one US dollar'),
    text('source', 'r.source', 'Where the rate is from'),
    integer('recorded_at', 'r.recorded_at', 'When it was stored'),
  ],
  key: ['currency', 'rated_on'],
  page: ['r.currency', 'r.rated_on'],
  app: null,
  organization: null,
  tracking: { kind: 'logged', source: 'rates', key: ['currency', 'rated_on'] },
}

const amount = (name: string, about: string) => integer(name, `v.${name}`, about)

// A cross join keeps the order of its tables, so that a page is read by the key of customers.
const figures: ExportTable = {
  name: 'customer_figures',
  about:
    'The figures of each customer, in the currency of the organization. They follow the facts, usually within a second; see `behind` in [docs/api.md](api.md).',
  from: `main.customers c
    cross join main.apps a on a.id = c.app_id
    cross join main.metric_generations g on g.organization_id = a.organization_id and g.state = 'shown'
    cross join main.metric_lineages l on l.app_id = c.app_id and l.environment = c.environment
      and l.original_transaction_id = c.original_transaction_id
    cross join main.customer_values v on v.generation = g.id and v.lineage_id = l.id`,
  where: 'c.canonical_id = c.id',
  columns: [
    text('customer_id', 'c.id', 'The customer'),
    text('app_id', 'c.app_id', 'The app'),
    text('environment', 'c.environment', '`production` or `sandbox`'),
    text('status', 'v.status', 'The status, as in the list of customers'),
    text('product_id', 'v.product_id', 'The product of the newest subscription'),
    text('country', 'v.storefront', 'The storefront, a code of three letters'),
    text('currency', 'g.currency', 'The currency of the amounts'),
    amount('ltv_milli', 'Charges less refunds'),
    amount('charged_milli', 'Charges'),
    amount('refunded_milli', 'Refunds'),
    amount('prorated_milli', 'Refunds of the rest of a period after an upgrade'),
    amount('proceeds_milli', 'What is left after tax, commission and refunds; null if unknown'),
    integer('proceeds_estimated', 'v.proceeds_estimated', 'For how many charges the proceeds are estimated'),
    text('unconverted', 'v.unconverted', 'JSON: amounts without an exchange rate, by currency'),
    integer('payments', 'v.payments', 'The number of charges'),
    integer('unpriced', 'v.unpriced', 'The number of purchases without a known price'),
    amount('mrr_milli', 'The monthly recurring revenue'),
    amount('risk_milli', 'The part of it that will not renew or is in billing retry'),
    integer('next_renewal_at', 'v.next_renewal_at', 'When the next renewal is due'),
    integer('ends_at', 'v.ends_at', 'When the first of the subscriptions ends unless it is renewed'),
    integer('first_paid_at', 'v.first_paid_at', 'The first charge'),
    integer('last_paid_at', 'v.last_paid_at', 'The last charge'),
    integer('last_seen_at', 'v.last_seen_at', 'The newest fact about the customer'),
  ],
  key: ['customer_id'],
  page: ['c.id'],
  app: 'c.app_id',
  organization: null,
  tracking: WHOLE,
}

export const SETTINGS_TABLES = [organizations, apps, products, annotations, rates, figures]
