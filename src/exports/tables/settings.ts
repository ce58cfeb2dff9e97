/** The exported tables of what the owner connected and wrote, of exchange rates, and of customers’ figures. */
import { columnsOf, type ExportTable, text } from './table.ts'

// The columns of the tables, by the aliases of `from`.
const a = columnsOf('a')
const c = columnsOf('c')
const g = columnsOf('g')
const n = columnsOf('n')
const o = columnsOf('o')
const p = columnsOf('p')
const r = columnsOf('r')
const v = columnsOf('v')

/** By default, a table has all rows, belongs to the instance, and is exported as a whole. */
const WHOLE = { where: null, app: null, organization: null, tracking: { kind: 'whole' } } as const

const organizations: ExportTable = {
  ...WHOLE,
  name: 'organizations',
  about: 'The organizations of this instance.',
  from: 'main.organizations o',
  columns: [
    o.text('id', 'The id'),
    o.text('slug', 'The short name of the configuration'),
    o.text('name', 'The name'),
    o.text('time_zone', 'The time zone of its days'),
    o.text('currency', 'The currency of its figures'),
    o.integer('created_at', 'When it was added'),
    o.integer('gone_at', 'When it was removed from the configuration'),
  ],
  key: ['id'],
  page: ['o.id'],
  organization: 'o.id',
}

const apps: ExportTable = {
  ...WHOLE,
  name: 'apps',
  about: 'The connected apps.',
  from: 'main.apps a',
  columns: [
    a.text('id', 'The id, which other tables call `app_id`'),
    a.text('organization_id', 'The organization'),
    a.text('bundle_id', 'The bundle id'),
    a.text('name', 'The name'),
    a.integer('apple_id', 'Apple’s id of the app'),
    a.text('android_package', 'The application id on Google Play'),
    a.text('sku', 'The SKU'),
    a.integer('created_at', 'When it was connected'),
    a.integer('gone_at', 'When it was removed'),
  ],
  key: ['id'],
  page: ['a.id'],
  app: 'a.id',
}

const products: ExportTable = {
  ...WHOLE,
  name: 'products',
  about: 'The subscriptions that the apps sell.',
  from: 'main.products p',
  columns: [
    p.text('app_id', 'The app'),
    p.text('product_id', 'The product id'),
    p.text('apple_id', 'Apple’s number of the product'),
    p.text('name', 'The name'),
    p.text('group_id', 'The subscription group'),
    p.text('group_name', 'The name of the group'),
    p.integer('group_level', 'The level in the group, 1 the highest'),
    p.text('period', 'The duration of a period (ISO 8601)'),
    p.integer('created_at', 'When it was first seen'),
    p.integer('gone_at', 'When Apple no longer listed it'),
  ],
  key: ['app_id', 'product_id'],
  page: ['p.app_id', 'p.product_id'],
  app: 'p.app_id',
}

const annotations: ExportTable = {
  ...WHOLE,
  name: 'annotations',
  about: 'The notes on days of the charts. Those that were deleted are not included.',
  from: 'main.annotations n',
  where: 'n.deleted_at is null',
  columns: [
    n.text('id', 'The id'),
    n.text('organization_id', 'The organization'),
    n.text('app_id', 'The app; null for a note about all apps'),
    n.text('annotated_on', 'The day'),
    n.text('text', 'The text'),
    n.text('source', 'Who wrote it: `owner`, `token`, or Apple’s `version` or `price`'),
    n.integer('created_at', 'When it was added'),
    n.integer('updated_at', 'When it last changed'),
  ],
  key: ['id'],
  page: ['n.id'],
  app: 'n.app_id',
  organization: 'n.organization_id',
}

const rates: ExportTable = {
  name: 'rates',
  about: 'Exchange rates. A day without a row has the rate of the last day before it.',
  from: 'main.rates r',
  where: null,
  columns: [
    r.text('currency', 'The currency'),
    r.text('rated_on', 'The day'),
    r.integer('per_usd_nano', 'Billionths of the currency for one US dollar'),
    r.text('source', 'Where the rate is from'),
    r.integer('recorded_at', 'When it was stored'),
  ],
  key: ['currency', 'rated_on'],
  page: ['r.currency', 'r.rated_on'],
  app: null,
  organization: null,
  tracking: { kind: 'logged', source: 'rates', key: ['currency', 'rated_on'] },
}

// A cross join keeps the order of its tables, so that a page is read by the key of customers.
const figures: ExportTable = {
  ...WHOLE,
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
    c.text('app_id', 'The app'),
    c.text('environment', '`production` or `sandbox`'),
    v.text('status', 'The status, as in the list of customers'),
    v.text('product_id', 'The product of the newest subscription'),
    text('country', 'v.storefront', 'The storefront, a code of three letters'),
    g.text('currency', 'The currency of the amounts'),
    v.integer('ltv_milli', 'Charges less refunds'),
    v.integer('charged_milli', 'Charges'),
    v.integer('refunded_milli', 'Refunds'),
    v.integer('prorated_milli', 'Refunds of the rest of a period after an upgrade'),
    v.integer('proceeds_milli', 'What is left after tax, commission and refunds; null if unknown'),
    v.integer('proceeds_estimated', 'For how many charges the proceeds are estimated'),
    v.text('unconverted', 'JSON: amounts without an exchange rate, by currency'),
    v.integer('payments', 'The number of charges'),
    v.integer('unpriced', 'The number of purchases without a known price'),
    v.integer('mrr_milli', 'The monthly recurring revenue'),
    v.integer('risk_milli', 'The part of it that will not renew or is in billing retry'),
    v.integer('next_renewal_at', 'When the next renewal is due'),
    v.integer('ends_at', 'When the first of the subscriptions ends unless it is renewed'),
    v.integer('first_paid_at', 'The first charge'),
    v.integer('last_paid_at', 'The last charge'),
    v.integer('last_seen_at', 'The newest fact about the customer'),
  ],
  key: ['customer_id'],
  page: ['c.id'],
  app: 'c.app_id',
}

export const SETTINGS_TABLES = [organizations, apps, products, annotations, rates, figures]
