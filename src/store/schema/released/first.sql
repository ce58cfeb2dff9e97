-- The schema of version 1, released with 0.1.0. Never change it: upgrades start from it.
pragma application_id = 1464421956;
pragma user_version = 1;
create table settings (
  key                     text primary key,
  value                   text not null
) strict, without rowid;
create table job_runs (
  job                     text primary key,
  started_at              integer not null,
  finished_at             integer,
  outcome                 text,
  error                   text,
  failures                integer not null,
  next_at                 integer
) strict, without rowid;
create table disk_faults (
  kind                    text primary key,
  code                    text not null,
  times                   integer not null,
  first_at                integer not null,
  last_at                 integer not null
) strict, without rowid;
create table events (
  seq                     integer primary key autoincrement,
  id                      text not null unique,
  organization_id         text not null,
  app_id                  text,
  environment             text,
  type                    text not null,
  origin                  text not null,
  customer_id             text,
  subject                 text,
  cause                   text not null,
  body                    blob not null,
  occurred_at             integer not null,
  signed_at               integer,
  recorded_at             integer not null
) strict;
create table organizations (
  id                      text primary key,
  slug                    text not null unique,
  name                    text not null,
  sdk_auth                text not null,
  time_zone               text not null,
  currency                text not null,
  source                  text not null,
  created_at              integer not null,
  gone_at                 integer
) strict;
create table sdk_keys (
  id                      text primary key,
  organization_id         text not null references organizations (id),
  kind                    text not null,
  hash                    blob not null unique,
  token                   text,
  hint                    text not null,
  label                   text not null,
  source                  text not null,
  created_at              integer not null,
  expires_at              integer,
  revoked_at              integer
) strict;
create table apps (
  id                      text primary key,
  organization_id         text not null references organizations (id),
  bundle_id               text not null,
  name                    text,
  apple_id                integer,
  team_id                 text,
  android_package         text,
  sku                     text,
  source                  text not null,
  created_at              integer not null,
  gone_at                 integer,
  unique (organization_id, bundle_id)
) strict;
create index apps_by_bundle on apps (bundle_id, organization_id);
create index apps_by_android_package on apps (android_package, organization_id) where android_package is not null;
create table products (
  app_id                  text not null references apps (id),
  product_id              text not null,
  apple_id                text,
  name                    text,
  group_id                text,
  group_name              text,
  group_level             integer,
  period                  text,
  period_source           text,
  created_at              integer not null,
  gone_at                 integer,
  primary key (app_id, product_id)
) strict, without rowid;
create table api_tokens (
  id                      text primary key,
  organization_id         text,
  apps                    text,
  label                   text not null,
  hash                    blob not null unique,
  hint                    text not null,
  created_at              integer not null,
  expires_at              integer,
  used_at                 integer,
  revoked_at              integer
) strict;
create table owner (
  id                      integer primary key check (id = 1),
  password                text,
  link_kind               text,
  link_hash               blob,
  link_expires_at         integer,
  changed_at              integer not null
) strict;
create table share_links (
  id                      text primary key,
  organization_id         text,
  apps                    text,
  basis                   text not null,
  label                   text not null,
  hash                    blob not null unique,
  passcode                text,
  created_at              integer not null,
  expires_at              integer,
  opened_at               integer,
  revoked_at              integer
) strict;
create table sessions (
  id                      text primary key,
  link_id                 text references share_links (id),
  hash                    blob not null unique,
  address                 text not null,
  user_agent              text not null,
  created_at              integer not null,
  seen_at                 integer not null,
  confirmed_at            integer not null
) strict;
create index sessions_by_link on sessions (link_id);
create table audit_log (
  id                      integer primary key autoincrement,
  at                      integer not null,
  actor                   text not null,
  address                 text,
  action                  text not null,
  subject                 text,
  detail                  text
) strict;
create trigger audit_log_stands before update on audit_log
begin select raise(abort, 'the audit log is only added to'); end;
create trigger audit_log_stays before delete on audit_log
begin select raise(abort, 'the audit log is only added to'); end;
create table rates (
  currency                text not null,
  rated_on                text not null,
  per_usd_nano            integer not null,
  source                  text not null,
  recorded_at             integer not null,
  primary key (currency, rated_on)
) strict, without rowid;
create table certificate_chains (
  id                      integer primary key,
  sha256                  blob not null unique,
  header                  text not null,
  first_seen_at           integer not null
) strict;
create table signed_payloads (
  id                      integer primary key,
  app_id                  text not null,
  sha256                  blob not null,
  kind                    text not null,
  source                  text not null,
  codec                   integer not null,
  body                    blob not null,
  received_at             integer not null,
  unique (app_id, sha256)
) strict;
create table notifications (
  app_id                  text not null,
  environment             text not null,
  uuid                    text not null,
  type                    text not null,
  subtype                 text,
  original_transaction_id text,
  status                  integer,
  signed_at               integer not null,
  sha256                  blob not null,
  payload_id              integer not null references signed_payloads (id),
  origin                  text not null,
  received_at             integer not null,
  problem                 text,
  unique (app_id, environment, uuid)
) strict;
create index statuses_by_lineage on notifications (app_id, environment, original_transaction_id, signed_at)
  where status is not null;
create index notifications_by_signing on notifications (app_id, environment, origin, signed_at);
create table pending_notifications (
  id                      integer primary key,
  organization_id         text,
  bundle_id               text not null,
  environment             text not null,
  apple_id                integer,
  uuid                    text not null,
  type                    text not null,
  sha256                  blob not null,
  codec                   integer not null,
  body                    blob not null,
  received_at             integer not null
) strict;
create index pending_by_bundle on pending_notifications (bundle_id);
create unique index pending_once on pending_notifications (sha256, ifnull(organization_id, ''));
create table refused_notifications (
  id                      integer primary key,
  reason                  text not null,
  detail                  text not null,
  raw                     text not null,
  address                 text,
  received_at             integer not null
) strict;
create table transactions (
  app_id                  text not null,
  environment             text not null,
  transaction_id          text not null,
  original_transaction_id text not null,
  product_id              text not null,
  group_id                text,
  kind                    text,
  reason                  text,
  ownership               text,
  quantity                integer not null,
  price_milli             integer,
  currency                text,
  storefront              text,
  purchased_at            integer not null,
  original_purchased_at   integer not null,
  expires_at              integer,
  earliest_expires_at     integer,
  latest_expires_at       integer,
  trial_signed_at         integer,
  paid_renewal_signed_at  integer,
  offer_type              integer,
  offer_id                text,
  offer_discount          text,
  offer_period            text,
  is_upgraded             integer not null,
  revoked_at              integer,
  revocation_reason       integer,
  revocation_type         text,
  revocation_percentage   integer,
  reversed_refunds        text,
  web_order_line_item_id  text,
  app_account_token       text,
  app_transaction_id      text,
  billing_plan            text,
  commitment              text,
  signed_at               integer not null,
  sha256                  blob not null,
  payload_id              integer not null references signed_payloads (id),
  unique (app_id, environment, transaction_id)
) strict;
create index transactions_by_lineage
  on transactions (app_id, environment, original_transaction_id, purchased_at);
create index trials_by_lineage on transactions (app_id, environment, original_transaction_id)
  where trial_signed_at is not null;
create table refunds (
  app_id                  text not null,
  environment             text not null,
  transaction_id          text not null,
  revoked_at              integer not null,
  revocation_type         text,
  revocation_percentage   integer,
  signed_at               integer not null,
  sha256                  blob not null,
  primary key (app_id, environment, transaction_id, revoked_at)
) strict, without rowid;
create table refund_reversals (
  app_id                  text not null,
  environment             text not null,
  transaction_id          text not null,
  reversed_at             integer not null,
  primary key (app_id, environment, transaction_id, reversed_at)
) strict, without rowid;
create table renewals (
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  signed_at               integer not null,
  sha256                  blob not null,
  product_id              text,
  next_product_id         text,
  auto_renew_status       integer,
  expiration_intent       integer,
  in_billing_retry        integer,
  grace_until_at          integer,
  price_increase_status   integer,
  renews_at               integer,
  renewal_price_milli     integer,
  currency                text,
  offer_type              integer,
  offer_id                text,
  offer_discount          text,
  offer_period            text,
  recent_start_at         integer,
  billing_plan            text,
  payload_id              integer not null references signed_payloads (id),
  primary key (app_id, environment, original_transaction_id, signed_at, sha256)
) strict, without rowid;
create table subscriptions (
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  transaction_id          text not null,
  product_id              text not null,
  group_id                text,
  ownership               text,
  storefront              text,
  price_milli             integer,
  currency                text,
  offer_type              integer,
  offer_discount          text,
  started_at              integer not null,
  period_started_at       integer not null,
  expires_at              integer,
  committed_until_at      integer,
  grace_until_at          integer,
  in_billing_retry        integer not null,
  auto_renew_status       integer,
  next_product_id         text,
  renewal_price_milli     integer,
  expiration_intent       integer,
  revoked_at              integer,
  apple_status            integer,
  apple_status_at         integer,
  primary key (app_id, environment, original_transaction_id)
) strict, without rowid;
create table customers (
  id                      text primary key,
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  original_purchased_at   integer,
  canonical_id            text not null
) strict, without rowid;
create index customers_by_canonical on customers (canonical_id);
create table customer_bridges (
  app_id                  text not null,
  environment             text not null,
  app_transaction_id      text not null,
  customer_id             text not null references customers (id),
  primary key (app_id, environment, app_transaction_id, customer_id)
) strict, without rowid;
create table backfills (
  app_id                  text not null,
  environment             text not null,
  stage                   text not null,
  started_at              integer not null,
  finished_at             integer,
  read_until_at           integer not null,
  until_at                integer not null,
  window_until_at         integer,
  page                    text,
  notifications           integer not null,
  lineages                integer not null,
  transactions            integer not null,
  statuses                integer not null,
  refused                 integer not null,
  problem                 text,
  problem_at              integer,
  primary key (app_id, environment)
) strict, without rowid;
create table lineage_reads (
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  read_with               text,
  revision                text,
  read_at                 integer,
  status_asked_at         integer,
  primary key (app_id, environment, original_transaction_id)
) strict, without rowid;
create table watermarks (
  app_id                  text not null,
  environment             text not null,
  compared_until_at       integer not null,
  checked_at              integer,
  problem                 text,
  problem_at              integer,
  primary key (app_id, environment)
) strict, without rowid;
create table gaps (
  id                      text primary key,
  app_id                  text not null,
  environment             text not null,
  first_signed_at         integer not null,
  last_signed_at          integer not null,
  notifications           integer not null,
  recovered               integer not null,
  found_at                integer not null,
  filled_at               integer
) strict, without rowid;
create index gaps_by_app on gaps (app_id, environment, found_at);
create table lookups (
  app_id                  text not null,
  original_transaction_id text not null,
  asked_at                integer not null,
  attempts                integer not null,
  next_at                 integer,
  outcome                 text,
  primary key (app_id, original_transaction_id)
) strict, without rowid;
create index lookups_due on lookups (app_id, next_at) where next_at is not null;
create table reports (
  id                      integer primary key,
  organization_id         text not null,
  vendor_number           text not null,
  kind                    text not null,
  day_on                  text not null,
  version                 text not null,
  sha256                  blob not null,
  bytes                   integer not null,
  state                   text not null,
  row_count               integer,
  subscription_units      integer,
  unknown_columns         text,
  problem                 text,
  received_at             integer not null,
  unique (organization_id, vendor_number, kind, day_on, sha256)
) strict;
create index reports_unfinished on reports (state) where state in ('arriving', 'loading', 'superseded');
create table report_parts (
  report_id               integer not null references reports (id),
  part                    integer not null,
  body                    blob not null,
  unique (report_id, part)
) strict;
create table report_versions (
  organization_id         text not null,
  kind                    text not null,
  version                 text not null,
  learned_at              integer not null,
  primary key (organization_id, kind)
) strict, without rowid;
create table reported_apps (
  id                      integer primary key,
  organization_id         text not null,
  sku                     text,
  apple_id                integer,
  name                    text,
  app_id                  text
) strict;
create unique index reported_apps_by_sku on reported_apps (organization_id, sku) where sku is not null;
create unique index reported_apps_by_apple_id on reported_apps (organization_id, apple_id) where sku is null;
create table report_apps (
  report_id               integer not null references reports (id),
  reported_app_id         integer not null references reported_apps (id),
  row_count               integer not null,
  primary key (report_id, reported_app_id)
) strict, without rowid;
create table import_days (
  organization_id         text not null,
  vendor_number           text not null,
  kind                    text not null,
  day_on                  text not null,
  state                   text not null,
  reason                  text,
  report_id               integer references reports (id),
  tries                   integer not null,
  asked_at                integer not null,
  changed_at              integer not null,
  due_at                  integer,
  primary key (organization_id, kind, day_on, vendor_number)
) strict, without rowid;
create table sales_days (
  report_id               integer not null,
  line                    integer not null,
  reported_app_id         integer not null,
  class                   text not null,
  product_type            text not null,
  sku                     text not null,
  apple_id                text,
  title                   text,
  country                 text not null,
  units                   integer not null,
  price_milli             integer not null,
  currency                text,
  gross_milli             integer not null,
  unit_proceeds_milli     integer not null,
  proceeds_milli          integer not null,
  proceeds_currency       text,
  subscription            text,
  period                  text,
  order_type              text,
  promo_code              text,
  proceeds_reason         text,
  preserved_pricing       text,
  cmb                     text,
  client                  text,
  device                  text,
  primary key (report_id, line)
) strict, without rowid;
create table subscription_days (
  report_id               integer not null,
  line                    integer not null,
  reported_app_id         integer not null,
  subscription_apple_id   text not null,
  subscription_name       text,
  group_id                text,
  duration                text not null,
  offer_name              text,
  offer_id                text,
  price_milli             integer,
  currency                text,
  proceeds_milli          integer,
  proceeds_currency       text,
  preserved_pricing       text,
  proceeds_reason         text,
  client                  text,
  device                  text,
  state                   text,
  country                 text not null,
  active_standard         integer not null,
  intro_free_trial        integer not null,
  intro_pay_up_front      integer not null,
  intro_pay_as_you_go     integer not null,
  promotional_free_trial  integer not null,
  promotional_pay_up_front integer not null,
  promotional_pay_as_you_go integer not null,
  offer_code_free_trial   integer not null,
  offer_code_pay_up_front integer not null,
  offer_code_pay_as_you_go integer not null,
  win_back_free_trial     integer not null,
  win_back_pay_up_front   integer not null,
  win_back_pay_as_you_go  integer not null,
  marketing_opt_ins       integer not null,
  billing_retry           integer not null,
  grace_period            integer not null,
  subscribers             integer,
  primary key (report_id, line)
) strict, without rowid;
create table subscription_event_days (
  report_id               integer not null,
  line                    integer not null,
  reported_app_id         integer not null,
  event_on                text not null,
  event                   text not null,
  class                   text not null,
  subscription_apple_id   text not null,
  subscription_name       text,
  group_id                text,
  duration                text,
  offer_type              text,
  offer_duration          text,
  offer_name              text,
  offer_id                text,
  marketing_opt_in        text,
  marketing_opt_in_duration text,
  preserved_pricing       text,
  proceeds_reason         text,
  consecutive_paid_periods integer,
  original_start_on       text,
  client                  text,
  device                  text,
  state                   text,
  country                 text not null,
  previous_subscription_apple_id text,
  previous_subscription_name text,
  days_before_canceling   integer,
  cancellation_reason     text,
  days_canceled           integer,
  quantity                integer not null,
  paid_service_days_recovered integer,
  primary key (report_id, line)
) strict, without rowid;
create table users (
  app_id                  text not null,
  app_user_id             text not null,
  platform                text,
  os_version              text,
  device_model            text,
  locale                  text,
  attributes              text not null,
  proved_attributes       text not null,
  verification            text not null,
  unattested              text,
  proved_at               integer,
  created_at              integer not null,
  seen_at                 integer not null,
  unique (app_id, app_user_id)
) strict;
create table links (
  id                      integer primary key autoincrement,
  app_id                  text not null,
  store                   text not null,
  transaction_id          text not null,
  platform                text,
  app_user_id             text not null,
  proved_app_user_id      text,
  proofs                  text not null,
  credential              text not null,
  product_id              text,
  unattested              text,
  created_at              integer not null,
  updated_at              integer not null,
  unique (app_id, store, transaction_id)
) strict;
create index links_by_user on links (app_id, app_user_id);
create table link_history (
  id                      integer primary key autoincrement,
  link_id                 integer not null references links (id),
  from_app_user_id        text,
  to_app_user_id          text,
  from_proved_app_user_id text,
  to_proved_app_user_id   text,
  from_proofs             text not null,
  to_proofs               text not null,
  from_credential         text not null,
  to_credential           text not null,
  moved_at                integer not null
) strict;
create index link_history_by_link on link_history (link_id);
create index link_history_by_user on link_history (from_app_user_id);
create table erasures (
  id                      text primary key,
  app_id                  text not null references apps (id),
  app_user_id             text,
  asked_by                text not null,
  asked_at                integer not null,
  step                    text,
  reached                 integer not null,
  until                   integer not null,
  links                   integer not null,
  scrubbed                integer not null,
  finished_at             integer
) strict, without rowid;
create index erasures_unfinished on erasures (asked_at, id) where finished_at is null;
create table tombstones (
  app_id                  text not null,
  hash                    blob not null,
  erasure_id              text not null references erasures (id),
  lifted_at               integer,
  primary key (app_id, hash)
) strict, without rowid;
create table refused_calls (
  refused_on              text not null,
  bundle_id               text not null,
  platform                text not null,
  code                    text not null,
  calls                   integer not null,
  example                 text,
  last_at                 integer not null,
  primary key (refused_on, bundle_id, platform, code)
) strict, without rowid;
create table metric_lineages (
  id                      integer primary key,
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  unique (app_id, environment, original_transaction_id)
) strict;
create table metric_generations (
  id                      integer primary key autoincrement,
  organization_id         text not null,
  state                   text not null check (state in ('shown', 'making', 'dropped')),
  time_zone               text not null,
  currency                text not null,
  factors                 text not null,
  formula                 integer not null,
  made_up_to              integer,
  started_at              integer not null,
  stood_still_at          integer
) strict;
create unique index metric_generations_in_use on metric_generations (organization_id, state) where state <> 'dropped';
create table metric_due (
  generation              integer not null,
  lineage_id              integer not null,
  rank                    integer not null,
  since                   integer not null,
  failed_at               integer,
  reason                  text,
  primary key (generation, lineage_id)
) strict, without rowid;
create index metric_due_next on metric_due (rank, since) where failed_at is null;
create index metric_due_failed on metric_due (failed_at) where failed_at is not null;
create table metric_counted (
  generation              integer not null,
  lineage_id              integer not null,
  counted_at              integer not null,
  due_at                  integer,
  is_provisional          integer not null,
  proceeds_milli          integer,
  proceeds_estimated      integer not null,
  last_charge_day         integer not null,
  primary key (generation, lineage_id)
) strict, without rowid;
create index metric_counted_due on metric_counted (due_at) where due_at is not null;
create index metric_counted_provisional on metric_counted (lineage_id) where is_provisional = 1;
create table metric_rows (
  generation              integer not null,
  lineage_id              integer not null,
  position                integer not null,
  on_at                   integer not null,
  known_at                integer not null,
  measure                 text not null,
  product_id              text not null,
  storefront              text not null,
  period                  text not null,
  offer                   text not null,
  currency                text not null,
  milli                   integer not null,
  base_milli              integer,
  count                   integer not null,
  primary key (generation, lineage_id, position)
) strict, without rowid;
create table reported_days (
  generation              integer not null,
  organization_id         text not null,
  kind                    text not null,
  day_on                  text not null,
  is_there                integer not null,
  due_since               integer,
  touches                 integer not null,
  is_provisional          integer not null,
  made_of                 text not null,
  lengths                 text,
  primary key (generation, kind, day_on)
) strict, without rowid;
create index reported_days_due on reported_days (generation, day_on, kind, due_since) where due_since is not null;
create table reported_series (
  id                      integer primary key,
  generation              integer not null,
  app_id                  text not null,
  measure                 text not null,
  dimension               text not null,
  value                   text not null,
  unique (generation, app_id, measure, dimension, value)
) strict;
create table reported_sums (
  series_id               integer not null references reported_series (id),
  day                     integer not null,
  milli                   integer not null,
  base_milli              integer not null,
  count                   integer not null,
  primary key (series_id, day)
) strict, without rowid;
create table reported_products (
  app_id                  text not null,
  number                  text not null,
  product_id              text not null,
  primary key (app_id, number)
) strict, without rowid;
create table reported_lengths (
  app_id                  text not null,
  number                  text not null,
  offer                   text not null,
  period                  text not null,
  day                     integer not null,
  primary key (app_id, number, offer)
) strict, without rowid;
create table reported_prices (
  app_id                  text not null,
  product_id              text not null,
  storefront              text not null,
  currency                text not null,
  price_milli             integer not null,
  is_after_a_year         integer not null,
  day                     integer not null,
  units                   integer not null,
  proceeds_milli          integer not null,
  proceeds_currency       text not null,
  is_uniform              integer not null,
  primary key (app_id, product_id, storefront, currency, price_milli, is_after_a_year, day, proceeds_currency)
) strict, without rowid;
create index reported_prices_by_day on reported_prices (app_id, day);
create table metric_cutovers (
  app_id                  text not null,
  metric                  text not null,
  day                     integer not null,
  at                      integer not null,
  reached_at              integer not null,
  primary key (app_id, metric)
) strict, without rowid;
create table metric_tasks (
  id                      integer primary key,
  what                    text not null check (what in ('rates', 'period', 'prices', 'all')),
  subject                 text not null,
  from_day                integer not null,
  cursor                  integer not null,
  unique (what, subject)
) strict;
create table metric_commission (
  id                      integer primary key check (id = 1),
  counted_by              text not null
) strict;
create table metric_series (
  id                      integer primary key,
  generation              integer not null,
  app_id                  text not null,
  environment             text not null,
  zone                    text not null,
  measure                 text not null,
  dimension               text not null,
  value                   text not null,
  unique (generation, app_id, environment, zone, measure, dimension, value)
) strict;
create table metric_days (
  series_id               integer not null references metric_series (id),
  day                     integer not null,
  milli                   integer not null,
  base_milli              integer not null,
  count                   integer not null,
  primary key (series_id, day)
) strict, without rowid;
create table customer_scopes (
  id                      integer primary key,
  generation              integer not null,
  app_id                  text not null,
  environment             text not null,
  unique (generation, app_id, environment)
) strict;
create table customer_values (
  generation              integer not null,
  lineage_id              integer not null,
  scope_id                integer not null references customer_scopes (id),
  id                      text not null,
  lineages                integer not null,
  ltv_milli               integer not null,
  ends_at                 integer,
  status                  text,
  product_id              text,
  storefront              text,
  next_renewal_at         integer,
  payments                integer not null,
  unpriced                integer not null,
  months_milli            integer not null,
  charged_milli           integer not null,
  refunded_milli          integer not null,
  prorated_milli          integer not null,
  unconverted             text,
  mrr_milli               integer not null,
  risk_milli              integer not null,
  proceeds_milli          integer,
  proceeds_estimated      integer not null,
  first_paid_at           integer,
  last_paid_at            integer,
  last_seen_at            integer not null,
  primary key (generation, lineage_id)
) strict, without rowid;
create index customers_by_ltv on customer_values (scope_id, ltv_milli, lineage_id, status);
create index customers_by_last_seen on customer_values (scope_id, last_seen_at, lineage_id, status);
create index customers_by_mrr on customer_values (scope_id, mrr_milli, lineage_id, status);
create index customers_by_risk on customer_values (scope_id, risk_milli, lineage_id, status);
create index rarer_customers_by_ltv on customer_values (scope_id, status, ltv_milli)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index rarer_customers_by_last_seen on customer_values (scope_id, status, last_seen_at)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index rarer_customers_by_mrr on customer_values (scope_id, status, mrr_milli)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index rarer_customers_by_risk on customer_values (scope_id, status, risk_milli)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index customers_by_end on customer_values (scope_id, ends_at, lineage_id) where ends_at is not null;
create index transactions_by_account_token on transactions (app_account_token) where app_account_token is not null;
create index events_by_subject on events (subject) where subject is not null;
create table cohort_series (
  id                      integer primary key,
  generation              integer not null,
  app_id                  text not null,
  environment             text not null,
  kind                    text not null,
  product_id              text not null,
  storefront              text not null,
  period                  text not null,
  unique (generation, app_id, environment, kind, product_id, storefront, period)
) strict;
create table cohort_cells (
  series_id               integer not null references cohort_series (id),
  cohort                  integer not null,
  position                integer not null,
  count                   integer not null,
  charged_milli           integer not null,
  refunded_milli          integer not null,
  prorated_milli          integer not null,
  primary key (series_id, cohort, position)
) strict, without rowid;
create table cohort_customers (
  generation              integer not null,
  lineage_id              integer not null,
  spread                  text not null,
  primary key (generation, lineage_id)
) strict, without rowid;
