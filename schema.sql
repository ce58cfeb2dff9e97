-- All tables, in sections named after the folder of src/ that writes them. Later sections may read and join earlier
-- ones; only the section's folder writes (test/tidy.test.ts reads these headings).
--
-- Conventions: every table is strict; names are plural snake_case; *_at is milliseconds since the epoch; *_on is
-- 'YYYY-MM-DD'; *_milli is integer thousandths of the `currency` in the same row; a null *_at means not yet. Flags are
-- integers, 0 or 1. The JSON of the API uses the same names.
-- Each table is marked: `kept` holds data that cannot be recreated, `derived` can be emptied and rebuilt to the same
-- rows (test/metrics/upkeep/derived.test.ts proves each).
-- Keys begin with organization or app, because production and sandbox, and any two organizations, never mix.

pragma application_id = 1464421956; -- 'WIND'
pragma user_version = 5;

-- store/ ------------------------------------------------------------------------------------------------

create table settings ( -- kept
  key                     text primary key,
  value                   text not null
) strict, without rowid;

-- The last run of each job: its outcome or error in words, the number of failures in a row, and when it runs next
-- (null for a job without a schedule).
create table job_runs ( -- kept
  job                     text primary key,
  started_at              integer not null,
  finished_at             integer,
  outcome                 text,
  error                   text,
  failures                integer not null,
  next_at                 integer
) strict, without rowid;

-- The last time that the disk refused to write (io_error), or that SQLite found this file damaged (damaged): SQLite's
-- code, and how often since first_at.
create table disk_faults ( -- kept
  kind                    text primary key,
  code                    text not null,
  times                   integer not null,
  first_at                integer not null,
  last_at                 integer not null
) strict, without rowid;

-- One sample for each UTC day, the first that housekeeping takes: the size of the database and the free space of its
-- disk. The forecast of the doctor is computed from the samples of the last 30 days; older than 400 days are deleted.
create table disk_samples ( -- kept
  sampled_on              text primary key,
  sampled_at              integer not null,
  database_bytes          integer not null,
  free_bytes              integer not null
) strict, without rowid;

-- events/ -----------------------------------------------------------------------------------------------

-- seq is the order of the feed and is never reused. id is a hash of the event's subject, so that a repeated fact
-- finds its event. body is frozen when appended (compressed JSON, events/codec.ts); it does not contain the customer's
-- figures, which are added when the event is read. customer_id is the canonical id at that time: the customer may
-- have been merged into another since.
create table events ( -- kept
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

-- apps/ -------------------------------------------------------------------------------------------------

-- `time_zone_source`: config.toml sets the zone, or the owner chose it in the dashboard; none: nobody did, and it is UTC.
create table organizations ( -- kept
  id                      text primary key,
  slug                    text not null unique,
  name                    text not null,
  sdk_auth                text not null,
  time_zone               text not null,
  currency                text not null,
  source                  text not null,
  created_at              integer not null,
  gone_at                 integer,
  time_zone_source        text not null default 'none' check (time_zone_source in ('none', 'config', 'dashboard'))
) strict;

-- `token` holds a publishable key in plain text, because every copy of the app contains it; null for a secret key.
create table sdk_keys ( -- kept
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

create table apps ( -- kept
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

-- The subscriptions that an app sells. One that Apple no longer lists gets gone_at and stays, because it still renews.
create table products ( -- kept
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

-- Apple API keys that the owner entered in the dashboard, at most one of each kind for an organization. `sealed` is the
-- private key, sealed with windfall.key. `vendor_numbers` is a JSON list, empty for purchases.
create table apple_keys ( -- kept
  organization_id         text not null references organizations (id),
  kind                    text not null check (kind in ('connect', 'purchases')),
  key_id                  text not null,
  issuer_id               text,
  sealed                  text not null,
  vendor_numbers          text not null,
  stored_at               integer not null,
  primary key (organization_id, kind)
) strict, without rowid;

-- access/ ----------------------------------------------------------------------------------------------

-- Read tokens. `apps` is a JSON list of app ids, null for all of the organization's apps, now and later. `can_annotate`
-- also allows to write annotations.
create table api_tokens ( -- kept
  id                      text primary key,
  organization_id         text,
  apps                    text,
  label                   text not null,
  hash                    blob not null unique,
  hint                    text not null,
  created_at              integer not null,
  expires_at              integer,
  used_at                 integer,
  revoked_at              integer,
  can_annotate            integer not null default 0
) strict;

-- The owner, in one row: the password (argon2id, a PHC string), a link that works once (its SHA-256), or both for a
-- short time.
create table owner ( -- kept
  id                      integer primary key check (id = 1),
  password                text,
  link_kind               text,
  link_hash               blob,
  link_expires_at         integer,
  changed_at              integer not null
) strict;

-- The secret of the owner's authenticator app, in one row, sealed. `last_step` is the newest time step (RFC 6238) whose
-- code was accepted.
create table authenticator ( -- kept
  id                      integer primary key check (id = 1),
  sealed                  text not null,
  last_step               integer not null,
  created_at              integer not null
) strict;

-- Codes that replace a code of the authenticator app once, as SHA-256.
create table recovery_codes ( -- kept
  hash                    blob primary key,
  used_at                 integer
) strict, without rowid;

-- The owner's passkeys. `host` is the relying party (WebAuthn), `public_key` a COSE key, `transports` a JSON list.
create table passkeys ( -- kept
  id                      text primary key,
  credential_id           text not null unique,
  public_key              blob not null,
  host                    text not null,
  name                    text not null,
  transports              text not null,
  is_synced               integer not null,
  counter                 integer not null,
  created_at              integer not null,
  used_at                 integer
) strict;

-- Share links. Their access scope is stored as in api_tokens. `passcode` is a PHC string.
create table share_links ( -- kept
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
  revoked_at              integer,
  metrics                 text
) strict;

-- Current sessions. The owner's have no link_id, a guest's has one. Ended sessions are deleted.
create table sessions ( -- kept
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

-- Actions and refused attempts, with their actor. Append-only.
create table audit_log ( -- kept
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

-- rates/ -----------------------------------------------------------------------------------------------

-- Exchange rates: billionths of a currency for one US dollar, by day. Rows are added, but not for a day whose rate is
-- carried over permanently (rates/series.ts), so that an amount converted at a final rate does not change. Only an
-- imported rate can be deleted; every amount is then converted again.
create table rates ( -- kept
  currency                text not null,
  rated_on                text not null,
  per_usd_nano            integer not null,
  source                  text not null,
  recorded_at             integer not null,
  primary key (currency, rated_on)
) strict, without rowid;

-- ledger/ -----------------------------------------------------------------------------------------------

-- The first segment of a JWS, which contains its certificates: four kilobytes that thousands of payloads share.
create table certificate_chains ( -- kept
  id                      integer primary key,
  sha256                  blob not null unique,
  header                  text not null,
  first_seen_at           integer not null
) strict;

-- Every signed payload that arrived, from any source. `body` restores it byte for byte (ledger/raw.ts).
create table signed_payloads ( -- kept
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

-- `origin`: `live` if Apple sent the notification to a connected app, `recovered` if it was pending or missing, `backfill`
-- if the backfill read it. It does not depend on age, unlike the origin of the event (ledger/origin.ts).
create table notifications ( -- kept
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

-- Verified notifications for apps that are not connected. organization_id: the one that the address named, if any.
create table pending_notifications ( -- kept
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

-- A hundred notifications that failed verification, because the local clock or root may be wrong. `address`
-- is the sender's (IPv6: its /64); null for an entry of Apple's history.
create table refused_notifications ( -- kept
  id                      integer primary key,
  reason                  text not null,
  detail                  text not null,
  raw                     text not null,
  address                 text,
  received_at             integer not null
) strict;

-- The newest signed version of each transaction. Some columns summarize all versions, so no later one withdraws them:
-- the earliest and the latest expiry (an extension moves it), and the signing date of the earliest version that is a
-- trial, or a paid renewal.
create table transactions ( -- kept
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
  -- JSON: the refunds that Apple reversed; null if there are none.
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

-- Refunds in any signed version of a transaction, and the dates of their reversals. The newest version of a
-- transaction contains neither.
create table refunds ( -- kept
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
create index refunds_by_date on refunds (app_id, environment, revoked_at);
create table refund_reversals ( -- kept
  app_id                  text not null,
  environment             text not null,
  transaction_id          text not null,
  reversed_at             integer not null,
  primary key (app_id, environment, transaction_id, reversed_at)
) strict, without rowid;
create index reversals_by_date on refund_reversals (app_id, environment, reversed_at);

-- Every distinct signed renewal info. Grace dates and expiration intents exist only while they apply, so the
-- newest alone would rewrite history.
create table renewals ( -- kept
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

-- Derived from the tables above, one row per lineage. ledger/subscription.ts computes its state at an instant.
create table subscriptions ( -- kept
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

-- One row per lineage, whose id resolves permanently. The rows of one customer share canonical_id.
create table customers ( -- kept
  id                      text primary key,
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  original_purchased_at   integer,
  canonical_id            text not null
) strict, without rowid;
create index customers_by_canonical on customers (canonical_id);

-- App transaction ids (one per Apple account and app) of lineages. A shared id joins lineages to one customer.
create table customer_bridges ( -- kept
  app_id                  text not null,
  environment             text not null,
  app_transaction_id      text not null,
  customer_id             text not null references customers (id),
  primary key (app_id, environment, app_transaction_id, customer_id)
) strict, without rowid;

-- The backfill of each app: its notifications, then each customer's transactions, then the subscriptions whose status
-- may be stale. It starts again after Apple was unreachable for longer than its history reaches.
create table backfills ( -- kept
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

-- Lineages whose transactions were read from Apple, and the revision to continue from. One answer contains all
-- lineages of a customer: `read_with` names the one that was requested.
create table lineage_reads ( -- kept
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  read_with               text,
  revision                text,
  read_at                 integer,
  status_asked_at         integer,
  primary key (app_id, environment, original_transaction_id)
) strict, without rowid;

-- Up to when Apple's history of notifications was compared with what had arrived.
create table watermarks ( -- kept
  app_id                  text not null,
  environment             text not null,
  compared_until_at       integer not null,
  checked_at              integer,
  problem                 text,
  problem_at              integer,
  primary key (app_id, environment)
) strict, without rowid;

-- Gaps: notifications that Apple had sent and Windfall had not received. They are applied one by one to fill the gap.
create table gaps ( -- kept
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

-- Original transaction ids that a client app named before Apple did. They are looked up at Apple, at growing intervals.
create table lookups ( -- kept
  app_id                  text not null,
  original_transaction_id text not null,
  asked_at                integer not null,
  attempts                integer not null,
  next_at                 integer,
  outcome                 text,
  primary key (app_id, original_transaction_id)
) strict, without rowid;
create index lookups_due on lookups (app_id, next_at) where next_at is not null;

-- Apple's daily reports: each distinct version of a day, once. Rows of a report carry its id. `sha256` is of the
-- uncompressed text: the same text can be compressed to other bytes later. `state`: arriving (its bytes are being
-- written), kept (bytes only), loading (rows are being written), current (its rows are its day's), superseded (its
-- rows are deleted or being deleted).
create table reports ( -- kept
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

-- The bytes as Apple sent them (compressed if Apple sent plain text), in pieces small enough for a short commit.
create table report_parts ( -- kept
  report_id               integer not null references reports (id),
  part                    integer not null,
  body                    blob not null,
  unique (report_id, part)
) strict;

-- The last version of each kind that Apple answered with.
create table report_versions ( -- kept
  organization_id         text not null,
  kind                    text not null,
  version                 text not null,
  learned_at              integer not null,
  primary key (organization_id, kind)
) strict, without rowid;

-- The apps that reports name, by SKU (SALES) or by Apple id. `app_id` is null until the app is connected. Report rows
-- reference this table, so that they do not change then.
create table reported_apps ( -- kept
  id                      integer primary key,
  organization_id         text not null,
  sku                     text,
  apple_id                integer,
  name                    text,
  app_id                  text
) strict;
create unique index reported_apps_by_sku on reported_apps (organization_id, sku) where sku is not null;
create unique index reported_apps_by_apple_id on reported_apps (organization_id, apple_id) where sku is null;

-- The apps that a report has rows of, and how many.
create table report_apps ( -- kept
  report_id               integer not null references reports (id),
  reported_app_id         integer not null references reported_apps (id),
  row_count               integer not null,
  primary key (report_id, reported_app_id)
) strict, without rowid;

-- Each requested day of each kind. `state`: done, empty (Apple says that nothing was sold), not_yet, missing (no longer
-- available), failed; `reason` in words. `tries`: unsuccessful requests in a row. `due_at`: the next request, null when
-- the day is settled.
create table import_days ( -- kept
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

-- The rows of SALES. A day's rows are those of the report that import_days names. price_milli and unit_proceeds_milli
-- are per unit, as Apple writes them; gross_milli and proceeds_milli are of the row, with its sign.
create table sales_days ( -- kept
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

-- The rows of SUBSCRIPTION: the number of subscriptions at the end of the day, by kind.
create table subscription_days ( -- kept
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

-- The rows of SUBSCRIPTION_EVENT: events of subscriptions, each of which happened `quantity` times.
create table subscription_event_days ( -- kept
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

-- attribution/ ------------------------------------------------------------------------------------------

-- `attributes` and the device fields hold the values of the last call. `proved_attributes` holds the values of calls
-- with a secret key or from an attested device, the last at `proved_at`. A user without one was only ever claimed.
-- `server_attributes` is a JSON list of the names that a secret key set: a device does not change them. Ids are never
-- reused, because exports name deleted users by them.
create table users ( -- kept
  id                      integer primary key autoincrement,
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
  server_attributes       text not null default '[]',
  unique (app_id, app_user_id)
) strict;

-- Two facts: what the last call said, and what the last proved call said, with its proofs. `credential` is that of the
-- call that last changed the link. `platform` is the last one that a call stated; if none did, `store` is inferred from
-- the transaction id. Ids are never reused, because event ids contain them.
create table links ( -- kept
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

-- Every change after the first call, with both complete states, so that it can be undone. A user id of null is a user
-- who was erased since. Ids are never reused, because event ids contain them.
create table link_history ( -- kept
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

-- Devices that enrolled with App Attest, one for each app and key. `public_key` is an uncompressed point on P-256.
-- `app_identifier` is the prefix, a dot and the bundle id that the key belongs to. `details` is JSON: what Apple states
-- beyond the columns. `token_hash` is the SHA-256 of the device token. A revoked device has no token.
create table devices ( -- kept
  id                      text primary key,
  app_id                  text not null references apps (id),
  key_id                  text not null,
  public_key              blob not null,
  app_identifier          text not null,
  environment             text not null check (environment in ('production', 'development')),
  category                integer,
  bundle_version          text,
  os_version              text,
  details                 text not null,
  receipt                 blob not null,
  counter                 integer not null,
  token_hash              blob unique,
  enrolled_at             integer not null,
  used_on                 text not null,
  revoked_at              integer,
  unique (app_id, key_id)
) strict;
create index devices_by_use on devices (used_on);

-- Challenges of finished enrolments, as SHA-256, each with the attestation that used it.
create table used_challenges ( -- kept
  hash                    blob primary key,
  attestation_hash        blob not null,
  used_at                 integer not null
) strict, without rowid;

-- The users that a device named in its calls, and the first and last UTC day.
create table device_users ( -- kept
  device_id               text not null references devices (id),
  app_user_id             text not null,
  first_on                text not null,
  last_on                 text not null,
  primary key (device_id, app_user_id)
) strict, without rowid;
create index device_users_by_user on device_users (app_user_id);
create index device_users_by_day on device_users (last_on, device_id);

-- Accepted SDK calls by UTC day. `assertion` sent: it was not checked. `verification` is the label in the answer.
-- `unattested` is empty for a call that stated no reason.
create table call_counts ( -- kept
  counted_on              text not null,
  app_id                  text not null,
  endpoint                text not null check (endpoint in ('identify', 'attribute')),
  credential              text not null,
  assertion               text not null check (assertion in ('none', 'sent', 'verified')),
  verification            text not null,
  unattested              text not null,
  calls                   integer not null,
  primary key (counted_on, app_id, endpoint, credential, assertion, verification, unattested)
) strict, without rowid;

-- Imports of files with links. `id` is the SHA-256 of the file and of how its columns are read, so that the same import
-- continues after the last of its `rows_done`. The other counts are those of the rows done.
create table link_imports ( -- kept
  id                      text primary key,
  file_name               text not null,
  rows_done               integer not null,
  linked                  integer not null,
  moved                   integer not null,
  unchanged               integer not null,
  refused                 integer not null,
  started_at              integer not null,
  finished_at             integer
) strict, without rowid;

-- Erasures: when requested and when finished. `app_user_id` is stored only until then. `step` is the running step; it
-- has processed `reached` of `until`; null before the first.
create table erasures ( -- kept
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

-- Tombstones: HMACs of erased user ids; the key is in settings. A lifted tombstone no longer refuses calls.
create table tombstones ( -- kept
  app_id                  text not null,
  hash                    blob not null,
  erasure_id              text not null references erasures (id),
  lifted_at               integer,
  primary key (app_id, hash)
) strict, without rowid;

-- SDK calls that were answered with a 4xx, by UTC day; kept for 30 days. `bundle_id` is from the call: empty if it
-- had none or an invalid one, '*' for all calls beyond the limit on rows. `platform` is ios, android, other or empty.
-- `example` is the fault of the newest such call. It contains field names, but no values that were sent.
create table refused_calls ( -- kept
  refused_on              text not null,
  bundle_id               text not null,
  platform                text not null,
  code                    text not null,
  calls                   integer not null,
  example                 text,
  last_at                 integer not null,
  primary key (refused_on, bundle_id, platform, code)
) strict, without rowid;

-- metrics/ ----------------------------------------------------------------------------------------------

-- A number for each lineage, so that rows need not repeat its full key. Numbers only grow.
create table metric_lineages ( -- kept
  id                      integer primary key,
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  unique (app_id, environment, original_transaction_id)
) strict;

-- Generations: all figures of an organization for one time zone, base currency, month length and version of the
-- formulas. 'shown' is read. 'making' is computed in parallel, so far up to the lineage made_up_to, and replaces the
-- shown one when it is complete. 'dropped' is being deleted. From stood_still_at on the generation does not follow new
-- facts, because the program's formulas have changed.
create table metric_generations ( -- kept
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

-- Marks: lineages that are due in a generation. rank: the order of computation. A lineage that cannot be computed
-- keeps its mark with the reason, and is skipped until its next fact or the next generation.
create table metric_due ( -- kept
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

-- The last computation of each lineage. Rows known at counted_at or before are in the sums. due_at: when the same facts
-- give other figures. is_provisional: an amount waits for a final rate. proceeds_*: the developer's part of charges,
-- null if it is unknown for all of them. last_charge_day: the day of the last charge, in UTC.
create table metric_counted ( -- derived
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

-- The rows of a lineage, in a fixed order, to be summed: levels, movements, money. A row that becomes known after the
-- day it counts for, or that lies in the future, counts from known_at on. base_milli is null if no rate was known.
create table metric_rows ( -- derived
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

-- The Pacific days of Apple's reports that are summed in a generation. is_there: the tables below contain the day's
-- sums. due_since: the first change that the sums do not contain yet, of the report or of its inputs (made_of: the
-- reports and their apps; lengths: the offers paid up front; rates); null if there is none. touches counts the changes.
-- is_provisional: an amount waits for a final rate.
create table reported_days ( -- kept
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

-- Daily sums of Apple's reports, like metric_series and metric_days. A product is Apple's number, a day is Pacific.
create table reported_series ( -- kept
  id                      integer primary key,
  generation              integer not null,
  app_id                  text not null,
  measure                 text not null,
  dimension               text not null,
  value                   text not null,
  unique (generation, app_id, measure, dimension, value)
) strict;

create table reported_sums ( -- kept
  series_id               integer not null references reported_series (id),
  day                     integer not null,
  milli                   integer not null,
  base_milli              integer not null,
  count                   integer not null,
  primary key (series_id, day)
) strict, without rowid;

-- The ids of the products that reports name by Apple's numbers, and the durations of offers that are paid up front.
create table reported_products ( -- kept
  app_id                  text not null,
  number                  text not null,
  product_id              text not null,
  primary key (app_id, number)
) strict, without rowid;

create table reported_lengths ( -- kept
  app_id                  text not null,
  number                  text not null,
  offer                   text not null,
  period                  text not null,
  day                     integer not null,
  primary key (app_id, number, offer)
) strict, without rowid;

-- Proceeds for each price at which a product was sold, by Pacific day. is_uniform: the same for every unit.
create table reported_prices ( -- kept
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

-- The cutover of each metric of an app: from this Pacific midnight on it comes from the ledger alone. Written once.
create table metric_cutovers ( -- kept
  app_id                  text not null,
  metric                  text not null,
  day                     integer not null,
  at                      integer not null,
  reached_at              integer not null,
  primary key (app_id, metric)
) strict, without rowid;

-- Changes that concern many lineages. They mark lineages as due in slices; `cursor` is the last lineage marked. what:
-- 'rates' concerns lineages that wait for a final rate, 'period' an app's lineages, 'prices' lineages charged since
-- from_day (UTC), 'all' every lineage of the organization.
create table metric_tasks ( -- kept
  id                      integer primary key,
  what                    text not null check (what in ('rates', 'period', 'prices', 'all')),
  subject                 text not null,
  from_day                integer not null,
  cursor                  integer not null,
  unique (what, subject)
) strict;

-- The commission with which customers' proceeds were computed.
create table metric_commission ( -- kept
  id                      integer primary key check (id = 1),
  counted_by              text not null
) strict;

-- The keys of daily sums: a measure of an app, in total or for one value of a dimension, by the days of a time zone.
create table metric_series ( -- derived
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

-- day: days since 1970-01-01 in the zone of its series.
create table metric_days ( -- derived
  series_id               integer not null references metric_series (id),
  day                     integer not null,
  milli                   integer not null,
  base_milli              integer not null,
  count                   integer not null,
  primary key (series_id, day)
) strict, without rowid;

-- A short number for each app, environment and generation, used to list customers.
create table customer_scopes ( -- derived
  id                      integer primary key,
  generation              integer not null,
  app_id                  text not null,
  environment             text not null,
  unique (generation, app_id, environment)
) strict;

-- The figures of each customer, under the number of its leading lineage. `id` is the canonical id. ends_at: when the
-- first of its subscriptions ends unless it is renewed. Amounts are in the base currency; `unconverted` lists, by
-- currency, the amounts without a known rate. proceeds_milli is null if the proceeds of all charges are unknown.
create table customer_values ( -- derived
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
-- Each index contains the status, so that a filter by status reads no customer rows.
create index customers_by_ltv on customer_values (scope_id, ltv_milli, lineage_id, status);
create index customers_by_last_seen on customer_values (scope_id, last_seen_at, lineage_id, status);
create index customers_by_mrr on customer_values (scope_id, mrr_milli, lineage_id, status);
create index customers_by_risk on customer_values (scope_id, risk_milli, lineage_id, status);
-- Rare statuses have separate indexes, because a scan for them would pass most of the other customers.
create index rarer_customers_by_ltv on customer_values (scope_id, status, ltv_milli)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index rarer_customers_by_last_seen on customer_values (scope_id, status, last_seen_at)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index rarer_customers_by_mrr on customer_values (scope_id, status, mrr_milli)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index rarer_customers_by_risk on customer_values (scope_id, status, risk_milli)
  where status in ('committed', 'trial', 'grace', 'billing_retry');
create index customers_by_end on customer_values (scope_id, ends_at, lineage_id) where ends_at is not null;

-- For the customer search, and for the events of a profile.
create index transactions_by_account_token on transactions (app_account_token) where app_account_token is not null;
create index events_by_subject on events (subject) where subject is not null;

-- The keys of cohort sums: an app's sums by kind (metrics/cohorts/changes.ts), each for one product and country or for
-- all (*).
create table cohort_series ( -- derived
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

create table cohort_cells ( -- derived
  series_id               integer not null references cohort_series (id),
  cohort                  integer not null,
  position                integer not null,
  count                   integer not null,
  charged_milli           integer not null,
  refunded_milli          integer not null,
  prorated_milli          integer not null,
  primary key (series_id, cohort, position)
) strict, without rowid;

-- The contribution of each customer, by the number of its leading lineage.
create table cohort_customers ( -- derived
  generation              integer not null,
  lineage_id              integer not null,
  spread                  text not null,
  primary key (generation, lineage_id)
) strict, without rowid;

-- annotations/ ------------------------------------------------------------------------------------------

-- Notes on days of the charts, for all of the organization's apps or for one. `source_key` names what a row from Apple
-- is about, such as a version, so that it is added once. A row from Apple that the owner deleted stays, with deleted_at.
create table annotations ( -- kept
  id                      text primary key,
  organization_id         text not null references organizations (id),
  app_id                  text references apps (id),
  annotated_on            text not null,
  text                    text not null,
  source                  text not null check (source in ('owner', 'token', 'version', 'price')),
  source_key              text,
  created_at              integer not null,
  updated_at              integer not null,
  deleted_at              integer
) strict;
create index annotations_by_day on annotations (annotated_on, id);
create unique index annotations_by_source on annotations (app_id, source_key) where source_key is not null;

-- When an app's versions and prices were last read from Apple, or why they were refused.
create table annotation_reads ( -- kept
  app_id                  text not null references apps (id),
  what                    text not null check (what in ('versions', 'prices')),
  read_at                 integer,
  refused                 text,
  primary key (app_id, what)
) strict, without rowid;

-- exports/ ----------------------------------------------------------------------------------------------

-- The change log: a row for each change of a row that exports contain, in the order of the commits. Triggers write it.
-- `source` is the table, `key` names the row (exports/tables), `app_id` is empty if the row belongs to no single app.
-- It contains no user ids, so that it can name erased users. A restore does not reuse numbers, and the newest row is never
-- deleted: the cursors of exports name them.
create table row_changes ( -- kept
  change                  integer primary key autoincrement,
  source                  text not null,
  app_id                  text not null,
  key                     text not null
) strict;

-- How far the change log had grown at an instant, so that its old rows can be found.
create table change_marks ( -- kept
  at                      integer primary key,
  change                  integer not null
) strict;

create trigger customers_added after insert on customers
begin insert into row_changes (source, app_id, key) values ('customers', new.app_id, new.id); end;
create trigger customers_changed after update on customers
begin insert into row_changes (source, app_id, key) values ('customers', new.app_id, new.id); end;
create trigger subscriptions_added after insert on subscriptions
begin
  insert into row_changes (source, app_id, key)
  values ('subscriptions', new.app_id, new.environment || '/' || new.original_transaction_id);
end;
create trigger subscriptions_deleted after delete on subscriptions
begin
  insert into row_changes (source, app_id, key)
  values ('subscriptions', old.app_id, old.environment || '/' || old.original_transaction_id);
end;
create trigger transactions_added after insert on transactions
begin
  insert into row_changes (source, app_id, key)
  values ('transactions', new.app_id, new.environment || '/' || new.transaction_id);
end;
create trigger events_scrubbed after update on events
begin insert into row_changes (source, app_id, key) values ('events', ifnull(new.app_id, ''), new.seq); end;
create trigger users_added after insert on users
begin insert into row_changes (source, app_id, key) values ('users', new.app_id, new.id); end;
-- Most calls change only seen_at and proved_at, of which exports have the day.
create trigger users_changed after update on users
  when new.attributes is not old.attributes or new.proved_attributes is not old.proved_attributes
    or new.verification is not old.verification or new.platform is not old.platform
    or new.os_version is not old.os_version or new.device_model is not old.device_model
    or new.locale is not old.locale or new.unattested is not old.unattested
    or new.seen_at / 86400000 is not old.seen_at / 86400000
    or new.proved_at / 86400000 is not old.proved_at / 86400000
begin insert into row_changes (source, app_id, key) values ('users', new.app_id, new.id); end;
create trigger users_deleted after delete on users
begin insert into row_changes (source, app_id, key) values ('users', old.app_id, old.id); end;
create trigger links_added after insert on links
begin insert into row_changes (source, app_id, key) values ('links', new.app_id, new.id); end;
create trigger links_changed after update on links
begin insert into row_changes (source, app_id, key) values ('links', new.app_id, new.id); end;
create trigger links_deleted after delete on links
begin insert into row_changes (source, app_id, key) values ('links', old.app_id, old.id); end;
create trigger link_history_added after insert on link_history
begin
  insert into row_changes (source, app_id, key)
  select 'link_history', app_id, new.id from links where id = new.link_id;
end;
create trigger link_history_changed after update on link_history
begin
  insert into row_changes (source, app_id, key)
  select 'link_history', app_id, new.id from links where id = new.link_id;
end;
create trigger link_history_deleted after delete on link_history
begin
  insert into row_changes (source, app_id, key)
  select 'link_history', app_id, old.id from links where id = old.link_id;
end;
create trigger rates_added after insert on rates
begin insert into row_changes (source, app_id, key) values ('rates', '', new.currency || '/' || new.rated_on); end;
create trigger rates_deleted after delete on rates
begin insert into row_changes (source, app_id, key) values ('rates', '', old.currency || '/' || old.rated_on); end;
create trigger reports_changed after update on reports
begin insert into row_changes (source, app_id, key) values ('reports', '', new.id); end;
create trigger reports_deleted after delete on reports
begin insert into row_changes (source, app_id, key) values ('reports', '', old.id); end;
create trigger reported_apps_changed after update on reported_apps
begin
  insert into row_changes (source, app_id, key)
  select 'reports', '', report_id from report_apps where reported_app_id = new.id;
end;

-- forwarding/ -------------------------------------------------------------------------------------------

-- Endpoints: the URLs to which events are sent (kind events), or Apple's notifications as they came (kind apple).
-- `apps` and `types` are JSON lists; null is all apps, or the default types. `headers` is sealed JSON, `header_names` a
-- JSON list. reason: why the endpoint is failing, paused or disabled. cursor: the last item that became a delivery or
-- did not match, a seq of events or a payload_id of notifications. failures: failed attempts in a row. down_ms: the
-- uptime of this process since the first of them. hold_until_at: the receiver asked to wait (Retry-After). gone_at: the
-- first 410 since the last success. max_per_second: the most requests in a second; null is no limit. default_set: which
-- default types it has if `types` is null, 1 those of version 0.3.0, 2 also those of 0.4.0.
create table endpoints ( -- kept
  id                      text primary key,
  organization_id         text not null references organizations (id),
  name                    text not null,
  kind                    text not null check (kind in ('events', 'apple')),
  url                     text not null,
  apps                    text,
  environment             text,
  types                   text,
  is_ordered              integer not null,
  headers                 text,
  header_names            text not null,
  source                  text not null,
  state                   text not null check (state in ('active', 'failing', 'paused', 'disabled')),
  reason                  text,
  state_since             integer not null,
  cursor                  integer not null,
  failures                integer not null,
  probes                  integer not null,
  down_ms                 integer not null,
  next_probe_at           integer,
  hold_until_at           integer,
  gone_at                 integer,
  last_success_at         integer,
  last_failure_at         integer,
  created_at              integer not null,
  deleted_at              integer,
  max_per_second          integer check (max_per_second between 1 and 1000),
  default_set             integer not null default 1
) strict;
create unique index endpoints_by_name on endpoints (organization_id, name) where deleted_at is null;

-- The signing secrets of endpoints, sealed. A rotated secret signs until expires_at. The secrets of a declared endpoint
-- are not stored.
create table endpoint_secrets ( -- kept
  id                      text primary key,
  endpoint_id             text not null references endpoints (id),
  sealed                  text not null,
  created_at              integer not null,
  expires_at              integer
) strict;
create index endpoint_secrets_by_endpoint on endpoint_secrets (endpoint_id, created_at);

-- Replays: past events that are sent again to an endpoint, up to `until`, which has the unit of the cursor. source: the
-- feed, or the failed deliveries of the endpoint, by id. filter: JSON.
create table replays ( -- kept
  id                      text primary key,
  endpoint_id             text not null references endpoints (id),
  source                  text not null check (source in ('feed', 'failed')),
  filter                  text not null,
  first                   integer not null,
  cursor                  integer not null,
  until                   integer not null,
  made                    integer not null,
  state                   text not null check (state in ('running', 'done', 'stopped')),
  asked_by                text not null,
  created_at              integer not null,
  finished_at             integer
) strict;
create index replays_by_endpoint on replays (endpoint_id, created_at);
create index replays_running on replays (endpoint_id, created_at) where state = 'running';

-- Deliveries of one event to one endpoint. event_id is the webhook-id. `seq` is that of the event, null for a test event
-- and a notification; payload_id that of a notification. key: the order key of an ordered endpoint. next_at: when the
-- next attempt is due; null while an earlier delivery of the key waits, and when finished. failures: attempts that
-- count for the schedule. body: the frozen bytes, deflated; null before the first attempt and after retention. loss, of one
-- that was given up: open; queued while a replay sends it again; dismissed by the owner. Null for all others, and once the
-- event was delivered, or given up, by a later delivery.
create table deliveries ( -- kept
  id                      integer primary key autoincrement,
  endpoint_id             text not null references endpoints (id),
  replay_id               text references replays (id),
  event_id                text not null,
  seq                     integer,
  payload_id              integer,
  type                    text not null,
  app_id                  text,
  environment             text,
  key                     text,
  is_test                 integer not null,
  is_remade               integer not null,
  state                   text not null check (state in ('waiting', 'delivered', 'failed', 'dropped', 'skipped')),
  reason                  text,
  attempts                integer not null,
  failures                integer not null,
  next_at                 integer,
  body                    blob,
  body_bytes              integer,
  body_sha256             blob,
  occurred_at             integer not null,
  created_at              integer not null,
  finished_at             integer,
  loss                    text check (loss in ('open', 'queued', 'dismissed'))
) strict;
create index deliveries_by_endpoint on deliveries (endpoint_id, id);
create index deliveries_by_event on deliveries (event_id);
create index deliveries_by_key on deliveries (endpoint_id, key, id) where key is not null;
create index deliveries_due on deliveries (endpoint_id, next_at, id) where state = 'waiting';
create index deliveries_by_replay on deliveries (replay_id, state) where replay_id is not null;
create index deliveries_untried on deliveries (endpoint_id, next_at, id) where state = 'waiting' and attempts = 0;
create index deliveries_refused on deliveries (endpoint_id, id) where state = 'waiting' and attempts > 0 and body is not null;
create index deliveries_with_body on deliveries (finished_at) where finished_at is not null and body is not null;
create index deliveries_finished on deliveries (finished_at) where finished_at is not null;
create index deliveries_lost on deliveries (endpoint_id, loss, finished_at) where loss is not null;

-- What was given up and has no event yet, for each endpoint: how many deliveries, the webhook-ids of the first and the last,
-- why the last was given up, and when the first (since) and the last was.
create table unannounced_losses ( -- kept
  endpoint_id             text primary key references endpoints (id),
  count                   integer not null,
  first_event_id          text not null,
  last_event_id           text not null,
  reason                  text not null,
  since                   integer not null,
  last_at                 integer not null
) strict;

-- Attempts. kind: delivered, rejected (a status other than 2xx), aborted (the same, and the receiver wants the event no
-- more) or why there was no answer. clock_ms: how far the receiver's clock is ahead, by its Date header.
create table delivery_attempts ( -- kept
  delivery_id             integer not null references deliveries (id),
  number                  integer not null,
  endpoint_id             text not null,
  at                      integer not null,
  ms                      integer,
  kind                    text not null,
  status                  integer,
  words                   text not null,
  address                 text,
  excerpt                 text,
  clock_ms                integer,
  is_probe                integer not null,
  primary key (delivery_id, number)
) strict, without rowid;
create index delivery_attempts_by_endpoint on delivery_attempts (endpoint_id, at, kind);

-- For Apple's notifications in the order of their arrival.
create index notifications_by_payload on notifications (payload_id);

-- alerts/ -----------------------------------------------------------------------------------------------

-- Where messages go. A phone or browser that accepts Web Push is a channel of its own. `settings` is JSON without secrets;
-- `sealed` contains the secret settings, and is null for a declared channel. `state` dead: the provider refuses the
-- channel; `reason` says why. A channel that waits for its provider sends nothing before next_at.
create table alert_channels ( -- kept
  id                      text primary key,
  organization_id         text not null references organizations (id),
  name                    text not null,
  kind                    text not null,
  settings                text not null,
  sealed                  text,
  hides_amounts           integer not null,
  digests                 text not null,
  source                  text not null,
  state                   text not null check (state in ('active', 'dead', 'disabled')),
  reason                  text,
  state_since             integer not null,
  next_at                 integer,
  last_sent_at            integer,
  last_failed_at          integer,
  created_at              integer not null,
  deleted_at              integer
) strict;
create unique index alert_channels_by_name on alert_channels (organization_id, name) where deleted_at is null;

-- Rules. `settings` is JSON: the filters and limits of the template. `channels` is a JSON list of ids, null for all
-- channels of the organization. `cursor` is the seq of the last event that the rule has seen.
create table alert_rules ( -- kept
  id                      text primary key,
  organization_id         text not null references organizations (id),
  name                    text not null,
  template                text not null,
  settings                text not null,
  channels                text,
  is_on                   integer not null,
  source                  text not null,
  cursor                  integer not null,
  created_at              integer not null,
  deleted_at              integer
) strict;
create unique index alert_rules_by_name on alert_rules (organization_id, name) where deleted_at is null;

-- What a rule remembers, such as the thresholds that were passed. Findings, and the buttons that were pressed, belong to the
-- organization, with rule_id ''.
create table alert_memory ( -- kept
  organization_id         text not null references organizations (id),
  rule_id                 text not null,
  key                     text not null,
  value                   text not null,
  at                      integer not null,
  primary key (organization_id, rule_id, key)
) strict, without rowid;

-- Messages, each once for its key. `content` is JSON: what it is about, and its text since it was first sent. Summaries and
-- digests have no rule.
create table alert_messages ( -- kept
  id                      text primary key,
  organization_id         text not null references organizations (id),
  rule_id                 text references alert_rules (id),
  kind                    text not null,
  key                     text not null,
  content                 text not null,
  happened_at             integer not null,
  created_at              integer not null,
  unique (organization_id, key)
) strict;
create index alert_messages_by_date on alert_messages (organization_id, created_at, id);

-- A message to a channel. sending: the request may have been sent. held: it waits, with due_at, for the end of quiet
-- hours or of a mute. joined: a summary, `summary_id`, tells it. `words` says why or why not.
create table alert_sends ( -- kept
  message_id              text not null references alert_messages (id),
  channel_id              text not null references alert_channels (id),
  state                   text not null check (state in ('waiting', 'held', 'sending', 'sent', 'joined', 'dropped', 'failed')),
  due_at                  integer,
  attempts                integer not null,
  words                   text,
  summary_id              text references alert_messages (id),
  finished_at             integer,
  primary key (message_id, channel_id)
) strict, without rowid;
create index alert_sends_due on alert_sends (due_at, channel_id) where due_at is not null;
create index alert_sends_by_channel on alert_sends (channel_id, finished_at);
create index alert_sends_by_summary on alert_sends (summary_id) where summary_id is not null;

-- Digests that were made: one for each channel, kind and local date. `figures` is JSON, null if the digest was skipped.
create table alert_digests ( -- kept
  channel_id              text not null references alert_channels (id),
  kind                    text not null check (kind in ('daily', 'weekly')),
  digested_on             text not null,
  message_id              text references alert_messages (id),
  figures                 text,
  made_at                 integer not null,
  primary key (channel_id, kind, digested_on)
) strict, without rowid;

-- Tokens of widgets and badges, as SHA-256. `token` is the text of a badge’s token, which is meant to be public; null for
-- a widget. `metrics` and `apps` are JSON lists; null apps are all of the organization.
create table widget_tokens ( -- kept
  id                      text primary key,
  organization_id         text not null references organizations (id),
  kind                    text not null check (kind in ('widget', 'badge')),
  label                   text not null,
  hash                    blob not null unique,
  token                   text,
  metrics                 text not null,
  apps                    text,
  created_at              integer not null,
  used_at                 integer,
  revoked_at              integer
) strict;
