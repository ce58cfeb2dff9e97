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
pragma user_version = 4;

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

create table organizations ( -- kept
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
-- first 410 since the last success.
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
  deleted_at              integer
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
-- count for the schedule. body: the frozen bytes, deflated; null before the first attempt and after retention.
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
  finished_at             integer
) strict;
create index deliveries_by_endpoint on deliveries (endpoint_id, id);
create index deliveries_by_event on deliveries (event_id);
create index deliveries_by_key on deliveries (endpoint_id, key, id) where key is not null;
create index deliveries_due on deliveries (endpoint_id, next_at, id) where state = 'waiting';
create index deliveries_by_replay on deliveries (replay_id, state) where replay_id is not null;
create index deliveries_with_body on deliveries (finished_at) where finished_at is not null and body is not null;
create index deliveries_finished on deliveries (finished_at) where finished_at is not null;

-- Attempts. kind: delivered, rejected (a status other than 2xx) or why there was no answer. clock_ms: how far the
-- receiver's clock is ahead, by its Date header.
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

-- What a rule remembers, such as the thresholds that were passed. Findings belong to the organization, with rule_id ''.
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

-- The rows of a database of this version.
insert into settings ("key", "value") values
('alerts/org_f7c51b5f6b7567a6', '{"quiet":null,"muted_until":null,"digests_at":"08:00"}'),
('first_acknowledged', '{"version":4,"at":1780315200000}'),
('instance_id', 'ins_a54f4928f349ca46'),
('sealing_key_id', 'cac22f0cf3b449e2');
insert into events ("seq", "id", "organization_id", "app_id", "environment", "type", "origin", "customer_id", "subject", "cause", "body", "occurred_at", "signed_at", "recorded_at") values
(1, 'evt_d4f8644aecbc32f2dca1d1a7', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_f477babdabf35a6e8537a2d6', '2000000900000001', '00000000-0000-4000-9000-000000000001', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302439C3929E392D0C8C0D4D21F6A227280B234B037388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780315200000, 1780315200000, 1780315200000),
(10, 'evt_eebd52034d3fbaf0b0ab4dca', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000005', '00000000-0000-4000-9000-000000000005', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302539C3929E392D0C4C2C2C20D6A127280B6303A88C018519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780488000000, 1780488000000, 1780488000000),
(11, 'evt_ddfb7cd1086dac5741e65c43', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000005', '2000000900000005', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302539C3929E392D0C4C2C2C20D6A127280B6303A88C019E4C803D49630F3DD4044C9CD5D8C211295E01', 1780488000000, 1780488000000, 1780488000000),
(12, 'evt_7a3e989fdfaa9c01d2698133', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000006', '00000000-0000-4000-9000-000000000006', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302339C3929E392D0C4C2C2C20D6A127280B6303A88C018519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780488000000, 1780488000000, 1780488000000),
(13, 'evt_5efc8a7f3c995be4ee1ef9da', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000006', '2000000900000006', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302339C3929E392D0C4C2C2C20D6A127280B6303A88C019E4C803D49630F3DD4044C9CD5D8C211295E01', 1780488000000, 1780488000000, 1780488000000),
(14, 'evt_1f00618ff24a1e41489c4167', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000007', '00000000-0000-4000-9000-000000000007', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302739C3929E392D0C4CCD4D4CC0D6A127280B6343333388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780574400000, 1780574400000, 1780574400000),
(15, 'evt_fd246bee6824710db77ca49e', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000007', '2000000900000007', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302739C3929E392D0C4CCD4D4CC0D6A127280B6343333388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780574400000, 1780574400000, 1780574400000),
(16, 'evt_abee16a693479a5e2c3d214b', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000008', '00000000-0000-4000-9000-000000000008', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432B02039C3929E392D0C4CCD4D4CC0D6A127280B6343333388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780574400000, 1780574400000, 1780574400000),
(17, 'evt_26dd6a37666bfb9dce61cefc', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000008', '2000000900000008', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432B02039C3929E392D0C4CCD4D4CC0D6A127280B6343333388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780574400000, 1780574400000, 1780574400000),
(18, 'evt_a9fad10011b6308f258c42bf', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000009', '00000000-0000-4000-9000-000000000009', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9A501942639C3929E392D0CCCCC0C2CC0D6A127280B6323532388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780660800000, 1780660800000, 1780660800000),
(19, 'evt_d15362c90deeb89b42582c58', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000009', '2000000900000009', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9A501942639C3929E392D0CCCCC0C2CC0D6A127280B6323532388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780660800000, 1780660800000, 1780660800000),
(2, 'evt_3cebfe69d842b2bfe0ba20c0', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_f477babdabf35a6e8537a2d6', '2000000900000001', '2000000900000001', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302439C3929E392D0C8C0D4D21F6A227280B234B037388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780315200000, 1780315200000, 1780315200000),
(20, 'evt_5201d947042d6d59cc210cee', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000010', '00000000-0000-4000-9000-000000000010', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432243DC3929E392D0CCCCC0C2CC0F6A127280B6323532388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780660800000, 1780660800000, 1780660800000),
(21, 'evt_e1eeb284126216b4e932c284', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000010', '2000000900000010', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432243DC3929E392D0CCCCC0C2CC0F6A127280B6323532388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780660800000, 1780660800000, 1780660800000),
(22, 'evt_541f187916827cf409abad5a', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000011', '00000000-0000-4000-9000-000000000011', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342439C3929E392D0CCC4DCC21F6A227280B6363634B88148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780747200000, 1780747200000, 1780747200000),
(23, 'evt_4dbcec23a3c766c5f7333a51', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000011', '2000000900000011', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342439C3929E392D0CCC4DCC21F6A227280B6363634B88149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780747200000, 1780747200000, 1780747200000),
(24, 'evt_d817f505a17e9b8adcdf6d85', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000012', '00000000-0000-4000-9000-000000000012', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342239C3929E392D0CCC4DCC21F6A227280B6363634B88148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780747200000, 1780747200000, 1780747200000),
(25, 'evt_f6e110079dbc38d56b0e3e02', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000012', '2000000900000012', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342239C3929E392D0CCC4DCC21F6A227280B6363634B88149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780747200000, 1780747200000, 1780747200000),
(26, 'evt_3d43b22201a94f1a3a749b2c', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000013', '00000000-0000-4000-9000-000000000013', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342639C3929E392D0C2C8C8DCDC0F6A127280B6313235388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780833600000, 1780833600000, 1780833600000),
(27, 'evt_5bf0b2291db94d9686e4ca36', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000013', '2000000900000013', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342639C3929E392D0C2C8C8DCDC0F6A127280B6313235388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780833600000, 1780833600000, 1780833600000),
(28, 'evt_bab48ac23379f7cae225df41', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000014', '00000000-0000-4000-9000-000000000014', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342139C3929E392D0C2C8C8DCDC0F6A127280B6313235388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780833600000, 1780833600000, 1780833600000),
(29, 'evt_6d4122b6f652711d04a01bd3', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000014', '2000000900000014', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342139C3929E392D0C2C8C8DCDC0F6A127280B6313235388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780833600000, 1780833600000, 1780833600000),
(3, 'evt_a169b5217e7e6eb3888dcf61', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'customer.merged', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000002', 'cus_f477babdabf35a6e8537a2d6:cus_6ca0acbdb3acac31aa4267fc', X'C3CCC6A91589B90539A97A39897925A94579F84AEE341373F3A4C4A494C4A43463D344B3540B5363F344A3143325142B00', 1780315200000, NULL, 1780315200000),
(30, 'evt_7c15448a4c7b541ea0861752', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000015', '00000000-0000-4000-9000-000000000015', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342539C3929E392D0C2C8C8DCD2DCC0D0C0CD0139485B1899129448AC28C823DD9630F61D4444E9CF3B0853552DC0300', 1780833787000, 1780833787000, 1780833787000),
(31, 'evt_72b018f073fa75bf1f275cf6', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000015', '2000000900000015', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342539C3929E392D0C2C8C8DCD2DCC0D0C0CD0139485B1899129440A4F26C09EA4B1871E6A0226CE6A6CE18814AF00', 1780833787000, 1780833787000, 1780833787000),
(32, 'evt_623d1255777bf82d922b7276', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000016', '00000000-0000-4000-9000-000000000016', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342339C3929E392D0C2C8C8DCD2DCC0D0C0CD0139485B1899129448AC28C823DD9630F61D4444E9CF3B0853552DC0300', 1780833787000, 1780833787000, 1780833787000),
(33, 'evt_aed6b001e967ab32d1547853', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000016', '2000000900000016', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432342339C3929E392D0C2C8C8DCD2DCC0D0C0CD0139485B1899129440A4F26C09EA4B1871E6A0226CE6A6CE18814AF00', 1780833787000, 1780833787000, 1780833787000),
(4, 'evt_d00f8906c82fbe2cee3e8e9e', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000002', '00000000-0000-4000-9000-000000000002', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302239C3929E392D0C8C0D4D21F6A227280B234B037388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780315200000, 1780315200000, 1780315200000),
(5, 'evt_f815d1dc29f7973724f54f96', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000002', '2000000900000002', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302239C3929E392D0C8C0D4D21F6A227280B234B037388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780315200000, 1780315200000, 1780315200000),
(6, 'evt_dae239dc4bc8fb38a617008a', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000003', '00000000-0000-4000-9000-000000000003', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302639C3929E392D0C4C0C0CCDC0D6A127280B234B4B6388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780401600000, 1780401600000, 1780401600000),
(7, 'evt_6ef65a119cb915e35e83754c', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000003', '2000000900000003', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302639C3929E392D0C4C0C0CCDC0D6A127280B234B4B6388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780401600000, 1780401600000, 1780401600000),
(8, 'evt_cfd7803dbfaa36e01954c944', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'subscription.renewed', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000004', '00000000-0000-4000-9000-000000000004', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302139C3929E392D0C4C0C0CCDC0D6A127280B234B4B6388148519057BB2C71EC2A8899C38E7610B6BA4B80700', 1780401600000, 1780401600000, 1780401600000),
(9, 'evt_4433b2d249801e61fc713350', 'org_f7c51b5f6b7567a6', 'app_f33f2fb35ba45e6a', 'production', 'transaction.recorded', 'live', 'cus_6ca0acbdb3acac31aa4267fc', '2000000900000004', '2000000900000004', X'C3CCC6A91589B90539A97A39897925A94579E8910215D62B28CAD7CBCDCF2BC9C8A9243A239B600B4AE2F3A9258432302139C3929E392D0C4C0C0CCDC0D6A127280B234B4B6388149E4C803D49630F3DD4044C9CD5D8C211295E01', 1780401600000, 1780401600000, 1780401600000);
insert into organizations ("id", "slug", "name", "sdk_auth", "time_zone", "currency", "source", "created_at", "gone_at") values
('org_f7c51b5f6b7567a6', 'default', 'Default', 'any', 'UTC', 'USD', 'first start', 1780315200000, NULL);
insert into sdk_keys ("id", "organization_id", "kind", "hash", "token", "hint", "label", "source", "created_at", "expires_at", "revoked_at") values
('key_0cb2ad688a4bc2ff', 'org_f7c51b5f6b7567a6', 'publishable', X'0E2B44124B1602E591D6564728BDDD394D357FC59D629CBEF0B23EFC7230CD06', 'pk_live_a4c7a79bb7ca1214cd6c50f2476ae0df37f9e63b629d3dfc', '3dfc', 'Default key', 'cli', 1780315200000, NULL, NULL);
insert into apps ("id", "organization_id", "bundle_id", "name", "apple_id", "team_id", "android_package", "sku", "source", "created_at", "gone_at") values
('app_f33f2fb35ba45e6a', 'org_f7c51b5f6b7567a6', 'com.example.lantern', NULL, 1234567890, NULL, NULL, NULL, 'test', 1780315200000, NULL);
insert into certificate_chains ("id", "sha256", "header", "first_seen_at") values
(1, X'8A9F6A5B3E3565EA80306DC809EBBF5A1A14F6BA55638E6284A18E93625AC3A5', 'eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlDSkRDQ0FhbWdBd0lCQWdJUVhtd3dUQUhRZUN5eWFzU3A3THN0YnpBS0JnZ3Foa2pPUFFRREFqQk5NU2t3SndZRFZRUUREQ0JUYVcxMWJHRjBaV1FnUkdWMlpXeHZjR1Z5SUZKbGJHRjBhVzl1Y3lCRFFURWdNQjRHQTFVRUNnd1hWR2hsSUhOcGJYVnNZWFJsWkNCQmNIQWdVM1J2Y21Vd0hoY05Nak13TmpBeE1UZ3dNREF3V2hjTk1qZ3dOakF4TURBd01EQXdXakJHTVNJd0lBWURWUVFEREJsVGFXMTFiR0YwWldRZ1VtVmpaV2x3ZENCVGFXZHVhVzVuTVNBd0hnWURWUVFLREJkVWFHVWdjMmx0ZFd4aGRHVmtJRUZ3Y0NCVGRHOXlaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCSEVtUlVEckI4U1lqTkM0YXZCNy92NDJhb2c2UTF4QnFOOWlzVkprM0Zqb0hIZExQU0UyZ0tPekF1cmMzeU9Nckpla2JTdUordzBiWTl0bFJOMlIrUFdqY2pCd01Bd0dBMVVkRXdFQi93UUNNQUF3RGdZRFZSMFBBUUgvQkFRREFnZUFNQjBHQTFVZERnUVdCQlM5QWdXTEhGdmtJclJNekpIcXFRNVYyMGpqQkRBZkJnTlZIU01FR0RBV2dCUlB1RjZQNUxoRHpYSW5BdE5sWnpmVUVQNFpHREFRQmdvcWhraUc5Mk5rQmdzQkJBSUZBREFLQmdncWhrak9QUVFEQWdOcEFEQm1BakVBdFcwV2RqZ0pXUlIvdzFhTGk4d21FWWlhNDFjc0dKbUhzMGtOUGZUKzdNWDljRHY4WXNaVFZYZk0yQVdVcVowVEFqRUE1eHB2dUliLzQrK2o0Y2tFY3BDSktZUVcwaGw5ZzVLNzRVQ0FpUHdMbW1xUFQ4NkszeWxPd3BDRjJxU2pIRkxSIiwiTUlJQ09qQ0NBY0dnQXdJQkFnSVFiajZjTTgrMUJrYjVpYzdCTGdzbE16QUtCZ2dxaGtqT1BRUURBakErTVJvd0dBWURWUVFEREJGVGFXMTFiR0YwWldRZ1VtOXZkQ0JEUVRFZ01CNEdBMVVFQ2d3WFZHaGxJSE5wYlhWc1lYUmxaQ0JCY0hBZ1UzUnZjbVV3SGhjTk1UWXdOakF4TURBd01EQXdXaGNOTXpZd05qQXhNREF3TURBd1dqQk5NU2t3SndZRFZRUUREQ0JUYVcxMWJHRjBaV1FnUkdWMlpXeHZjR1Z5SUZKbGJHRjBhVzl1Y3lCRFFURWdNQjRHQTFVRUNnd1hWR2hsSUhOcGJYVnNZWFJsWkNCQmNIQWdVM1J2Y21Vd2RqQVFCZ2NxaGtqT1BRSUJCZ1VyZ1FRQUlnTmlBQVNNUHFPeks3VkNEYWNhazdqeForSVUrTlA3WVZObWVhSm9HL2dCWVZLOWNSWUpnS3hZZ29OakFQTlBoS1cycktIbzZIdUwrWHRzZ0U2SGdJMnJuZ3gyVUZlRWNaVVlIQWFIdFdkK3JtNVQ3Snl6bm8wZkQ2cHBSbUhmZXYvdkI1bWpkVEJ6TUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3RGdZRFZSMFBBUUgvQkFRREFnRUdNQjBHQTFVZERnUVdCQlJQdUY2UDVMaER6WEluQXRObFp6ZlVFUDRaR0RBZkJnTlZIU01FR0RBV2dCVEdNc2NCQTNONHFqL3RRVHpsd3RPNytaeENNakFRQmdvcWhraUc5Mk5rQmdJQkJBSUZBREFLQmdncWhrak9QUVFEQWdObkFEQmtBakJESitQSTZQaDRQcUxiTFNndnpCQVNiQVBzQjBiL2NoOHV3dEJsRUV3aW9XaFRnT2s5UWpPblRYeXgxQy9uZ0JBQ01HZDFYTDM5K3pRZ0NnUHMwd04wSXJSN0cvbUpHRzJCMXNETjYrRlB6Rnd5TnpabTVWOWhQeW9pemNZRGNLZTNudz09IiwiTUlJQ0dqQ0NBYUNnQXdJQkFnSVFaWFFUYzYyM0EvWjVJZWdVUGcxMkJ6QUtCZ2dxaGtqT1BRUURBakErTVJvd0dBWURWUVFEREJGVGFXMTFiR0YwWldRZ1VtOXZkQ0JEUVRFZ01CNEdBMVVFQ2d3WFZHaGxJSE5wYlhWc1lYUmxaQ0JCY0hBZ1UzUnZjbVV3SGhjTk1UUXdOakF4TVRJd01EQXdXaGNOTkRFd05qQXhNRFl3TURBd1dqQStNUm93R0FZRFZRUUREQkZUYVcxMWJHRjBaV1FnVW05dmRDQkRRVEVnTUI0R0ExVUVDZ3dYVkdobElITnBiWFZzWVhSbFpDQkJjSEFnVTNSdmNtVXdkakFRQmdjcWhrak9QUUlCQmdVcmdRUUFJZ05pQUFUL1dyVFRrOHVQNHQrZUFaaEtoeVh1ZnMraytFc3owMm45L1MyUXZHbWhPQmRUQnRRM1dTQ0YrR09SQ2dEVUY4amh2NXZPSHVZd3hKTmVHK1ZhVklNNW5MLzVrUE54YTIzS0hpTjBwc1ZWZjZSdzU5K3pDd01nY0pVSkx2ekpTWVNqWXpCaE1BOEdBMVVkRXdFQi93UUZNQU1CQWY4d0RnWURWUjBQQVFIL0JBUURBZ0VHTUIwR0ExVWREZ1FXQkJUR01zY0JBM040cWovdFFUemx3dE83K1p4Q01qQWZCZ05WSFNNRUdEQVdnQlRHTXNjQkEzTjRxai90UVR6bHd0TzcrWnhDTWpBS0JnZ3Foa2pPUFFRREFnTm9BREJsQWpBeExtRjdIYTQ4cnA4L3dwbExERS9CaXNrT0hDRWNEL0QwNldUbktmQURpUDJEU1A4N0cwNUhTYjJtNVhKVW1CSUNNUURuOEhVa3VaT08zRG9jbm5wdmdHNm9QcVhrQmJyYTQyMHBpSGFoLzM1Z1pOL1VheFlEV0FTanZuby8xbG1rK3Z3PSJdfQ', 1780315200000);
insert into signed_payloads ("id", "app_id", "sha256", "kind", "source", "codec", "body", "received_at") values
(1, 'app_f33f2fb35ba45e6a', X'A16A0B8448DF8FDDD147340B0BF03DB38C738ADB1FD9F28305AA877F35407759', 'notification', 'push', 1, X'A5D45D6F82301406E0C8FE89D7C35068C55E32599C3AE3170AF50EA493C957A9189CC6FFBEE87413036E66E7E224945EB4E785A70284ADBECE3437DCA2494411E7CCA12F78F03A634ADAF4F5516AA99959E74B6BEDF7CC699DB5E6CEA835E8EBB3FE92522BEDB70931D8981BE946EFC66337D46C0C57E2DB50D895D1754CB19822E954E2B1C143C3E7C7531D22BD7DA786A400F4F5AF3F167A036405A2BADA380CF74A1EBAB14316D05A604729E551014450BEFD59AF7EB22E83A90204D17A1E2468A2BA8949E2E9C6EB68A4A5BC5B6D87A2AC69D84E161ABC43900858C0FDD9D05B6A6BD3E7BD6D12241A5E4D16B1A2F91DD76D8FBBA3B9E991E80932992C845D9979F8627A65F8156C2DC450967285AB7F98E2A59EA7D51AE3712D8CA3D40B3E7E055506DF67BA8635177799B1B94D57DC36642CA9E77745F2DEB6F64E56F327B98FC7FFF807EFF00FE61306D5FD4375BF7FF804', 1780315200000),
(10, 'app_f33f2fb35ba45e6a', X'0C1739BB1878ED8678DB4967DB5D9F6A5555326379937A1A69886FFF9D0792F8', 'notification', 'push', 1, X'A5D45B6F82301400E088FFC4E7696829088F93DB54220A83A02FC63114975210198119FFFBE22D1353DCCCCE4393B6E7A1E79CE66B00C6D8AA110A9C2F3C28DEDC5157373D8801CF977D6B6404FE5099C72B4DEF8710732F25F8B47214AE7D5CC88A4464595255A428ACA86BC3A5C1C5EF447686F6ECB5ED4E985D1D5DC729D22962CFD13E2EE8B04897ED29C0A186FB3589AC20B0E231FB89EA0D801CE285AE7868EE8D3C41B188121C74F08264414A28102178FF5B6F7F665D0753033022763623676D66D046A9BA1E4F4C2B0CA264BCDCE413DF5ED9EC6C30157CA5CC738993D40F353134E8F139C61A29E32272E769467AAE390DA63A67E7F9A067799EF9CCECEACC93AEBA57871F25958A21642B21B5FED0C56B3DCFA79D248D3B514CB21097BF820AC1E95114582BE3AE33B69274C3ADC8411E5EEE68F2DEB7F64156AB2F798CC7FFF8871EF00F55270C5AFB666BBF6F7E03', 1780660800000),
(11, 'app_f33f2fb35ba45e6a', X'74D16B494A0597131F8BB5F60673904D56AB5690C55505EFF481958642C1162A', 'notification', 'push', 1, X'A5D4CB6E82401406E0886FE2BA9819066458A28050A54A6D50D910AC102FDC4422A8F1DD8DB754CC606B7A16276198C5CCF9E1AB406A000C599B4F53556FA87183534CD44569323515C57280B21D7228CBF3C8E5C70B5905ADBCCD0B8CD58CB1E4A718D3FA5CDE58F162ED8E229BFB0AC2B6D38603AB1F18D4BE8CAE738A648AC0B5E873634F4DB83D5E0A9E227D7E270C7896BFFCEB6F446F208358AEC1E3D3701FE4717327887DB7EE3B61EA262101229679FE59AF7FB22E83A902A94D867A0330F9967037D1839D677BD2E73857471D64881379A981E1D2653B3BCC675233DC41CF6CF5EC0EDE7AD3F912F799F795B19AD9229DD1DA4A13747326C6EE47D310A97D9979C2DDF4CAF0236C2562C8804209B53F4CF15ECFEB6A3D4EA27A1085E9CCDFFE0A2A032F8722C05A88BBCCD8C2A6076E314248B8BD23C9FBDCDA17592D9EE4351EFFE31FFB827F6C3161583B546B8743F508', 1780747200000),
(12, 'app_f33f2fb35ba45e6a', X'E27AE471F3C11CE3FD2FDA0ECE895F467712175C9F131689413E4CE8917761C1', 'notification', 'push', 1, X'A5D45B6F82301400E00CFF09CFD3D00B208F0E15DD747543707B32383A45A154608A33FEF7C55B26067466E7E124BD3CB4E7B4DF1D10BA2B65A427B49D7AEE3C45D24279951E64B9D5B569AB47266960D946BA72270DC238A16ABF397CE4C49E46F1D4200ED7DFE2D9A051FFE887CFE385AF78EFF5587F4913AB26AC8BE8DA75319F22E910E55DC2DBA41D87FB0050BC76A7AAA46275FFD7EF73BD0110615951ABDBE29EC9435327E03EADF80E4B68C47220C2F0F2B38E7F7B5D04D31D1082A5AE97075E67193AA8B9183186CDE15737EAE09A150062A1A72607119B71F713782DE461F86DA2B61C609718C6D084CB08025B2534ECE97E6A49F381A798E17C2CAC8BCCD34EAA57845FCED65C0CA194094DFC43154FF53CCC56781456829025137F75155408F687CA8135D3EE2263339BCEB8AD2284B4E35A9EBC97ADBD91D5EC496EE3F13FFEE11BFCC3D90E03715312379BD20F', 1780747200000),
(13, 'app_f33f2fb35ba45e6a', X'60FD5800D6422EE40F498E6CA28E99549674BC4F8DEECFEE1D3CBA92BAF32346', 'notification', 'push', 1, X'A5D44B6F82401000E048FF09E76AF601B81ED5D6B64055542A785B95CA5B104B01E37F6F7CA562406B3A874976770EBB339BAF021959E4F5EE88A269DF0CBF14C157C5E71694DCC41EAC859916CC0D9035475856864930B4C83C53CC14894916D63BA4ED69B1134DBA630FE12C00506D7DF694C98C6F2D17CCA68CAEFD148B2902C7A8EE13B74B8DD3F21010B3B7DE4400C158D8573F167A0311E678A14E76CDBD90C748A817B846CDA5FEDA58F9051071E8FAB78E7E675D06530532837E1C991DBD2AA9513715F93E68274FD3F79052FA963AB64E7DF5455B8CC7C0A24DC7969CD822BD7954D530EC61DDE6E4307415215667FA87055E034B7689B106D237B32933AF71D6BD32FC0A4A0B314420170DF60F5D3CD7F3B85B0B56CB9AB7F4D7A69BDE0415C1C3A50A60CD8DBBCCD85CD105B70473883F9D15C97BDDDA3B59CDDFE43E1EFFE31F77877F5C7EC290DD3EB0DBEDC30F', 1780833600000),
(14, 'app_f33f2fb35ba45e6a', X'E515E5E935F1BDA29F8E40A9880C9C2F3512E44A8C7599EE54B1991940F9A5D2', 'notification', 'push', 1, X'A5D44B8F82301000E088FF84F362E80384AB51545603886EF46450D892501EB122B0C6FF6E7C65C580AED9394CD2760EED4CF33500E7EE0AC91CEF985B3081314BC97446319AF5A71339A1CBC968ADADE7C500398BA96819200C62DD4C7F0CD3D6BB99E3A7225C6DB528CC03467BB0375E48D2DC476449B87D1D5DE7295653245E4338277C4AEA6D790980F9576F52440521F95CFD51E90D80084B725B3935F7411E2F77C2847A2DEA445B6F13554084E1F36FCD7E675D0753037038C73159C94C96854FBB93F869D7A718AB84D05164071959484E6746A0D1194E75A33F5102D41E08AE17E67067CC52F72B3335CDB0BFE3956381E1BA17A9944ACCE2F675E6A977DDABC3AFA2B41243289642E5FFD0C57B3DAFBBAD6413B7C238DAFAB478092A04974B55C05A1A779DB1A5A2076E1584A1743BAB92F7B9B56FB25ABEC97B3CFEC73FFC867FB83C61C01F9AFCE1D03C02', 1780833600000),
(15, 'app_f33f2fb35ba45e6a', X'E2572B2CDF97ECDE70F210D8EDC5B0ADD4027927404421E64DD32CBB0112440D', 'notification', 'push', 1, X'A5D45B6F82301400E088FF84E7615A5A041EBD0C75E09C579497051D880A95012A68FCEF8BB74C4CD1999D8793B43D0FED39CD97834CFBA384CCB832FFB4AAC4F1FBA4152CA6E5963D5480237F130F0F4A5AF8DAE9866025276F509BF5166E6D00479211E3F1D046C6CA1F8D79DF2C5B5521DCF4044BD97463B7CDECB2E83A4E914E113807774CF890E4CBF21450601FBD49021242A22402005EA8DE401E61A1284A87E6DEC863C5A6E7BB56C135496405840211E6EF7FEBF077D65930E520E3184D5D971A335BD9B467106C0505794E13ADC856C649452B56AC896AAABA6634C5044E48470B6B91AA735BAEAA8BC9BA91085FF3F9BADFA807EBBA4AECE8BDE3682137657659E6C957DDCBC28F524AC59007A990D93F74F15ACFF36EC10F96056F4922C74D1E82CAC3D3A528B0A6C69D656CAAE8865B09615EB89CD1E4BD6FED93ACA66FF21C8FFFF10F3FE11F4E4F18B2FB3CBBDFE77F00', 1780833787000),
(16, 'app_f33f2fb35ba45e6a', X'B6A376CA0B54F0D072843B1280622DEF11DE2249E85CC9CA4E7A93D8E717ADC0', 'notification', 'push', 1, X'A5D45B6F82301400E088FF84E76128542D8F8A528711658A4E5F8820932DDC26205AE37F5FBC65628ACEEC3C9CA4ED7968CF69BE12607A62776071DFAEAF132FE10267B4D57A351F6AAE22EB208CC6866A22C02DAA636F1AA643A11F69C494146512934FBB4D243DCC02497DCB52D758B4D07B0776AC999136985D115DC729D229E2CFC11D133C24E9B23C05A8B18FDE8478248A7554E779FE85EA0D104458ADD5D1A1B937F2389BB91F794EC59B0789B30A281041E1FEB78E7F675D04530930EDD6B8AB36ACD9A4B9C69EFC816CFBAB9769531D59961C77EC61FC8A89AC9A2976F1DA3084661F370789E90D4094602E9B268498CBF548B1B04F746DB69C8432164719B32B324FBAEA5E117E94522A86029F0B89FD4317AFF53CEF56A25558F1C32071BDED43500570BA1405D6DCB88B8CCD15DD708B4428542F673479EF5BFB24ABF99B3CC7E37FFC834FF807F31306ECBECCEEF7E51F', 1780833787000),
(2, 'app_f33f2fb35ba45e6a', X'356BE22581620A5581EDEACD734DE919401224C4142FBAB12C809203F9477F6E', 'notification', 'push', 1, X'A5D45B6F82301400E04CFF09CFD3B4A50A3C3A9CA06E102F14F4C5A00395721B63A1BAF8DF179D66624067761E9AF492B43DA7FD1E6085B1B966003BAEA1899EEABADB99052F634D34ADCFAC67BCA9984F840E03CE5A1B66EB659B02B3D67965194AD5BEAF107E904C040486EDD4955B23F22451EF7DE86BB3ACF25546D7A18AC5148163D40E0DDE37D2A97B0CC4DDBA930878D8F8F9EB8F85DE40C4E3465310F7C9BD90C7617610FB4EDDB7C3D449C2028830BAFEAC3F7E6B5D06D303AC740DD7DBDA8D1453758495914B8C89CD6F97AD350C7CA537A7CC62646102B9DB1F7B5253B55833243D85AE9EF98D1C59845F4E6916B51D994E05B28A07BAB0504C6F9FF312F3A4B3EC95E157B0B41043047221717FC8E2B99EC7D17A9C44F5200AD395BFB9092A8287BD6001ACB97297199B5B74C1AD8824209CE68AE4BD6EED9DACE64F721F8FFFF10FDFE11FCE571872BB2AB7DB55BF01', 1780315200000),
(3, 'app_f33f2fb35ba45e6a', X'4859E40BF6F0998E057DDD3DC04E00A23C5191C618B6DD7A3C97B31AF26764A2', 'notification', 'push', 1, X'A5D45B6F82301400E088FF84E7612814A48F35A0BBE8F08EF24214702AD7098A60FCEF8B4433314567761E9AB43D49DB739AAF02A8A529EB8D952DFB0648E3690777576C7304669EDA5EEEDFE678683111580B5AE0AC94AC3755C78B4E120AA292A27A32DCA50AFAF6A20FB397D9DBAC6FF27084EBBA31D4307528A32BEF229922F61C4C3EC0D3802ED373F0F4A337492C64819827BF10BD011C0F05B12E9D8A7B238FBD9F79A16BD7DC991FDB1B9F0011E4EE7FEBE8B7D76530550035C0A6B00B2C3953FBAF4D479B2267FDA5403D6DE04562C9365099F19C518D4C73DB5117636EA08860AF896638EE6DD66DCB70AD50473CFB39698D505788DFF9466BE224D4A1CC3C7455BD32FC08A9440C39B61088FE4315AFF53CAFD6C24D50F3023F5EBAE9435039909F0508B016DA5D666C21E9865B894388BFEC91E4BD6FED93AC166FF21C8FFFF10F3EE11F2C7618D0C72A7D3C567F00', 1780401600000),
(4, 'app_f33f2fb35ba45e6a', X'549B84E7408E699A81267152B1BF5E2194AA2AAC52FCFB86647E7FA28DCDE1E4', 'notification', 'push', 1, X'A5D4416F82301400E088FF84F334B4142C4750860A431163CC2EA63A101D82204CD1F8DF8D4433314567F60E4DDABEA4ED7BCD57014C5369E3A540B08E0830A478D1EDEC3F7F227BCB2B031376603095794FDB4102DDCE608BBB240D4539D5C6932689D4D4B18623B3BFB7421847C95CCE36CBBEABF78822338732BAF22ED229E22E51CB07741EA4EBF412887DF626CC210E8879F21BD51B007924880D7C2EEE9D3CCE8EACD6BE53F749903871408108C1C7DF7AF3DBEB32982A80E98DA733926E666213184ACBB01A43B73D34928126261362EA50D0FA11B2D49AA9479EEBB9F25250457967FBE13B67BBF03B255820BD10FBA3969A2DBAD9D76CBDB53FE6CCA1CC3CE9A67A65F85152A91842AE1012FB872ADEEA7959ADAFE3B0BE0A83C4F3B3A7A042909F0528B016DA5D666C21E98E5B0C2589BFEED1E47D6CED8BAC166FF21A8FFFF10FBDE01F2A7618B0C72A7B3C564F', 1780401600000),
(5, 'app_f33f2fb35ba45e6a', X'557DC529E6EA533F73A3B5948982FD02D340C504EC9746A3D1B37E3D787ECEB5', 'notification', 'push', 1, X'A5D4DD6E82301400E0C8DE84EB695A28502E65364C047F32C98C378639062A14C54E41E3BB2F3A9689293AB373D1A4ED49DA9ED37C352864B9460D2DB6ACF66E3457C317C2E6FD7EC7DBF55AEDDC0887D08DE58F1C905D643F93B96E861B47B53FA391EC0F9F0876F46640BA6FE36CD821BDF542991AFD6C2693782BECABE83A75914F1128A27E1AD071D07FA64528E2AD37618030FE4E7EE47A03251929AA868FC5BD90C7CFBC7819F98DC8A3CC4F290722245DFFD6EBDF5E57C1548382329851370FD1C4765D6335D54CDAC3CE886D0DC95A2C07A69C7ABEE277E8AAE9D45B7861D91B48837432C5A01D04261ABF32A64F185CA7B3EEE6DDF192A48B57480D847D9579FA59F5AAF0E3A4723194402974F10F553CD7B3586D2CD3A411279485517E1354099ECE821C584BEDAE32B69474C12D9641B105F8F25EB7F64E56CB37B98FC7FFF887EEF00F953B0CC5C38378383C7C01', 1780488000000),
(6, 'app_f33f2fb35ba45e6a', X'6BD8442B0CEE35A327655AB27B1ADBF38314398736435A5AA3AF30615AABF700', 'notification', 'push', 1, X'A5D4DD6E82301400E0E8DE84EB69682DB55CAAA071C074FC18B61BC380AA03051111B3F8EE8B8E65628ACEEC5C34697B92B6E7345F0DD4F1FBCE3617A221D1CE684BF72D45D0871384B1A2CBB2959BE293290DA22C9F0E3F68AAC0A16F3F0F9CAEE2AF2158EB5910D8A6157BD67ED196A74984BB507BD3A6A13AAB7F56D175EA229B22BE88C66940C741FC991681B95B6F223C22E43BF991E90D802D24E0363916F7421E3F779671E837436795FAC98A011182D7BFF5E6B7D75530D5401DD004E70E8DDDBEE6A179430CE2B1B709B6BB8663CDC8ABAB1A99D2D324234D91B89CF45C38EA67335D6BF755397017237BDCDB082895B61DF2E209713036A86AD2F5B1E615E68967D5ABC28F91CAC410F2A510B93F54F15CCF62B51927517319ADD279B8BF092A04A7B30003D652BBAB8C2D255D704B5A7CB1C5B3E5BD6EED9DAC966F721F8FFFF10FDDE11F2A7718708707EE7078F802', 1780488000000),
(7, 'app_f33f2fb35ba45e6a', X'0805D819C33B9190EAA00F010A8D4B0B48BA0964841E0E35E77CC72DF7CBA0B3', 'notification', 'push', 1, X'A5D4CD8E82301000E0886FC27935144A8B4775E5475D1415512F46145101AD28B8627CF78D44B36240D7EC1C9AB49DA4ED4CF3E50035579CBD41D85A99516541E88E7CDD220AEF9B23D8114C5BD367FCD06805ADADAEA195A14AD50191C49E875467362551841BAA3FD9062637920A320C1559A88C916CD8D4298BAEB88BE91431D728C403BC0CA5DBF41A987EF52681E1318471F247AA3780E5208FB07029EE833CD6F7C423AE557427EBBDE5AF532082ECF36FBDFBED75164C39401DFB78212E6BEE0AE185646BDEBC512FB4612312DD5099868CD4DFA9E3A5D3B6548E74F9A629F63B958D8783E5E7D438A8E3B03A88EA44D79C9A18C015D3FB2A07CDA11D68D429CBBCD25DF5B2F04B494DC590651251A2FF50C57B3DAFAB45E26F8ADE66BD5FB8C797A0B2203E0BA4C09A687796B189A4076E050E2074DB4B93F7B9B56FB29ABCC97B3CFEC73FF8867F30D961409FF3F4F99CFF01', 1780574400000),
(8, 'app_f33f2fb35ba45e6a', X'0158435315A298E424B78AFBDCF0A166352F061D28FD5D9A6A412B67AE77C13B', 'notification', 'push', 1, X'A5D4DD6E82301400E0A86FC2F534142A944BD95448FC633806DC18C8100CA5A063AC6CF1DD178966628ACEEC5C34697B92B6E7345F0BB4CDF127F522302F54FD594E279167F08B8DF256C6D339F4ADE82309D45214BF1ECB175973E2509BC9AF0B5B93C2954FDDD8764B5D5BA7BE90D910604AE2641D8E9F86C4687F37D15575914D117F8C6E35C0C3A09CA6C740DCAD3721BE2F4358253F30BD018208FB928C0EC5BD9027A05E92E1A0873D92073BC280080AD7BFF5FB6FAF9B606A81B64CDC42B307F62433FC9153C4EA024B45410758872EE826B6B75B1A667742558B22348499E74C471BCF5A9A24E101102D49779630574204DD3CE0F176B6DEAEC243CD1BCC53CEAAD7841F239589A1C0D742E1FE50C5733D8FABBD6C97F69294E4112E6F822A80EA2CC080B5D6EE26636B4917DC221148D2698F25EF756BEF64B57E93FB78FC8F7FF00EFF60BDC380DB77B8FDBEF303', 1780574400000),
(9, 'app_f33f2fb35ba45e6a', X'A392122B042FB7F21D7763F2B2A062BD975D1822C842B3A687E788A7F103017B', 'notification', 'push', 1, X'A5D4DD6E82301400E04CDF84EB615AA8152E75630C3745985AF4C628617306F929C54917DF7D916826067466E7A249DB93B43DA7F9EE602D1D590389BA295BF0D12035D817C189095CCDF4912F6F285DF65BCF0E73C3CE86F4DA5CFFCC1E652581E3A1180F683B9BBE8E44078CBBA1C9984530C9201FBBF36EBBF65D4557DEC5728AC021C47C40FB413D4E0FA10AD7DEA4008C819227DF977A03251935714BD917F74C1E6F3B5F47BED7F0E701F368500211922E7FEBE4B7D75530DDC19A66D3D4D034074DC034DDF86F2DB363BBE2D203939EAFC7229F64EAEA219ABD733386B30F46F0D34B8FE048E7436B6124966D72C7260450D90BC26D5333FA7167A5EF6B5E619E7A52BD2AFC4A524B3194402154E10F553CD5F3B0DA8868D85887015BFAD9555025989F054B602DB4BBCAD842D219B78A2C35A5E35E99BC97ADBD91D5E24D6EE3F13FFEA11BFC43C50E4361571776BBFA0F', 1780660800000);
insert into notifications ("app_id", "environment", "uuid", "type", "subtype", "original_transaction_id", "status", "signed_at", "sha256", "payload_id", "origin", "received_at", "problem") values
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000001', 'DID_RENEW', NULL, '2000000900000001', 1, 1780315200000, X'A16A0B8448DF8FDDD147340B0BF03DB38C738ADB1FD9F28305AA877F35407759', 1, 'live', 1780315200000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000002', 'DID_RENEW', NULL, '2000000900000002', 1, 1780315200000, X'356BE22581620A5581EDEACD734DE919401224C4142FBAB12C809203F9477F6E', 2, 'live', 1780315200000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000003', 'DID_RENEW', NULL, '2000000900000003', 1, 1780401600000, X'4859E40BF6F0998E057DDD3DC04E00A23C5191C618B6DD7A3C97B31AF26764A2', 3, 'live', 1780401600000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000004', 'DID_RENEW', NULL, '2000000900000004', 1, 1780401600000, X'549B84E7408E699A81267152B1BF5E2194AA2AAC52FCFB86647E7FA28DCDE1E4', 4, 'live', 1780401600000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000005', 'DID_RENEW', NULL, '2000000900000005', 1, 1780488000000, X'557DC529E6EA533F73A3B5948982FD02D340C504EC9746A3D1B37E3D787ECEB5', 5, 'live', 1780488000000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000006', 'DID_RENEW', NULL, '2000000900000006', 1, 1780488000000, X'6BD8442B0CEE35A327655AB27B1ADBF38314398736435A5AA3AF30615AABF700', 6, 'live', 1780488000000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000007', 'DID_RENEW', NULL, '2000000900000007', 1, 1780574400000, X'0805D819C33B9190EAA00F010A8D4B0B48BA0964841E0E35E77CC72DF7CBA0B3', 7, 'live', 1780574400000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000008', 'DID_RENEW', NULL, '2000000900000008', 1, 1780574400000, X'0158435315A298E424B78AFBDCF0A166352F061D28FD5D9A6A412B67AE77C13B', 8, 'live', 1780574400000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000009', 'DID_RENEW', NULL, '2000000900000009', 1, 1780660800000, X'A392122B042FB7F21D7763F2B2A062BD975D1822C842B3A687E788A7F103017B', 9, 'live', 1780660800000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000010', 'DID_RENEW', NULL, '2000000900000010', 1, 1780660800000, X'0C1739BB1878ED8678DB4967DB5D9F6A5555326379937A1A69886FFF9D0792F8', 10, 'live', 1780660800000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000011', 'DID_RENEW', NULL, '2000000900000011', 1, 1780747200000, X'74D16B494A0597131F8BB5F60673904D56AB5690C55505EFF481958642C1162A', 11, 'live', 1780747200000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000012', 'DID_RENEW', NULL, '2000000900000012', 1, 1780747200000, X'E27AE471F3C11CE3FD2FDA0ECE895F467712175C9F131689413E4CE8917761C1', 12, 'live', 1780747200000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000013', 'DID_RENEW', NULL, '2000000900000013', 1, 1780833600000, X'60FD5800D6422EE40F498E6CA28E99549674BC4F8DEECFEE1D3CBA92BAF32346', 13, 'live', 1780833600000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000014', 'DID_RENEW', NULL, '2000000900000014', 1, 1780833600000, X'E515E5E935F1BDA29F8E40A9880C9C2F3512E44A8C7599EE54B1991940F9A5D2', 14, 'live', 1780833600000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000015', 'DID_RENEW', NULL, '2000000900000015', 1, 1780833787000, X'E2572B2CDF97ECDE70F210D8EDC5B0ADD4027927404421E64DD32CBB0112440D', 15, 'live', 1780833787000, NULL),
('app_f33f2fb35ba45e6a', 'production', '00000000-0000-4000-9000-000000000016', 'DID_RENEW', NULL, '2000000900000016', 1, 1780833787000, X'B6A376CA0B54F0D072843B1280622DEF11DE2249E85CC9CA4E7A93D8E717ADC0', 16, 'live', 1780833787000, NULL);
insert into transactions ("app_id", "environment", "transaction_id", "original_transaction_id", "product_id", "group_id", "kind", "reason", "ownership", "quantity", "price_milli", "currency", "storefront", "purchased_at", "original_purchased_at", "expires_at", "earliest_expires_at", "latest_expires_at", "trial_signed_at", "paid_renewal_signed_at", "offer_type", "offer_id", "offer_discount", "offer_period", "is_upgraded", "revoked_at", "revocation_reason", "revocation_type", "revocation_percentage", "reversed_refunds", "web_order_line_item_id", "app_account_token", "app_transaction_id", "billing_plan", "commitment", "signed_at", "sha256", "payload_id") values
('app_f33f2fb35ba45e6a', 'production', '2000000900000001', '2000000900000001', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780315200000, 1780315200000, 1782907200000, 1782907200000, 1782907200000, NULL, 1780315200000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780315200000, X'0F321A674BA435D4D50C9671885665BA71C3FB8D6391C920EF47B3A8D6B7A372', 1),
('app_f33f2fb35ba45e6a', 'production', '2000000900000002', '2000000900000002', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780315200000, 1780315200000, 1782907200000, 1782907200000, 1782907200000, NULL, 1780315200000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780315200000, X'EC94FB38731BDEB0587CA13C9E99442A0F42966767D3D3BDB6CAFB386A8089F4', 2),
('app_f33f2fb35ba45e6a', 'production', '2000000900000003', '2000000900000003', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780401600000, 1780401600000, 1782993600000, 1782993600000, 1782993600000, NULL, 1780401600000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780401600000, X'634F53754C7F437F7C2C9C9363EB2488539DBFC5920007D2930B43B6B82D718F', 3),
('app_f33f2fb35ba45e6a', 'production', '2000000900000004', '2000000900000004', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780401600000, 1780401600000, 1782993600000, 1782993600000, 1782993600000, NULL, 1780401600000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780401600000, X'C17D70CD075F99C9B524F9D3C887AF36FA9873C429F5FF12453A3CA97FB59B93', 4),
('app_f33f2fb35ba45e6a', 'production', '2000000900000005', '2000000900000005', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780488000000, 1780488000000, 1783080000000, 1783080000000, 1783080000000, NULL, 1780488000000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780488000000, X'FEAAC423D0ADECFFC5553FCB9E014FFDE95A90CA18BE2566FF90C47E417F9DE2', 5),
('app_f33f2fb35ba45e6a', 'production', '2000000900000006', '2000000900000006', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780488000000, 1780488000000, 1783080000000, 1783080000000, 1783080000000, NULL, 1780488000000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780488000000, X'847DFF31FAC9E36A62BA60499AF6617FB427656EDFC57AEEE0CF70E59F3588B1', 6),
('app_f33f2fb35ba45e6a', 'production', '2000000900000007', '2000000900000007', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780574400000, 1780574400000, 1783166400000, 1783166400000, 1783166400000, NULL, 1780574400000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780574400000, X'A0BDAB2706BE7AF58B8306E4C204256AC3812BBE857B47952A709E0B6F1F46F6', 7),
('app_f33f2fb35ba45e6a', 'production', '2000000900000008', '2000000900000008', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780574400000, 1780574400000, 1783166400000, 1783166400000, 1783166400000, NULL, 1780574400000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780574400000, X'A3909C668B3C7DC2C27FA0CBBE7BD6FFC8006BA099B942AC7E68C876325E017E', 8),
('app_f33f2fb35ba45e6a', 'production', '2000000900000009', '2000000900000009', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780660800000, 1780660800000, 1783252800000, 1783252800000, 1783252800000, NULL, 1780660800000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780660800000, X'FA2AFAACA44790A8D387F4AE28AE1ED25D4E0A7EA9BECCB6DF88EB9A44AA70A0', 9),
('app_f33f2fb35ba45e6a', 'production', '2000000900000010', '2000000900000010', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780660800000, 1780660800000, 1783252800000, 1783252800000, 1783252800000, NULL, 1780660800000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780660800000, X'4929D375A7AD1A43D8122CC2E5880E43B2FB9D3BA6A0E95C98067DEF57AECF15', 10),
('app_f33f2fb35ba45e6a', 'production', '2000000900000011', '2000000900000011', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780747200000, 1780747200000, 1783339200000, 1783339200000, 1783339200000, NULL, 1780747200000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780747200000, X'4BDBFFC452076FDB16D1F4EDB5FC6A3C50C4262D2F0B0D02CA1BCDBCD16E748D', 11),
('app_f33f2fb35ba45e6a', 'production', '2000000900000012', '2000000900000012', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780747200000, 1780747200000, 1783339200000, 1783339200000, 1783339200000, NULL, 1780747200000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780747200000, X'DA795D3AF21C9BD9B85300DFBF8C5ED72C363E6019E99D8A1DEC45B8222FCEF2', 12),
('app_f33f2fb35ba45e6a', 'production', '2000000900000013', '2000000900000013', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780833600000, 1780833600000, 1783425600000, 1783425600000, 1783425600000, NULL, 1780833600000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780833600000, X'9875E7B5E9F9DAA26E1A2EDFE5065843DE5CEC4F6BA09F15DAAC5C3860F23DE2', 13),
('app_f33f2fb35ba45e6a', 'production', '2000000900000014', '2000000900000014', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780833600000, 1780833600000, 1783425600000, 1783425600000, 1783425600000, NULL, 1780833600000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780833600000, X'3C664D32E5FEF37A5D1F31E01B54CF4F232ADCA8D94C0FF26483ED40257BE2E7', 14),
('app_f33f2fb35ba45e6a', 'production', '2000000900000015', '2000000900000015', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780833787000, 1780833787000, 1783425787000, 1783425787000, 1783425787000, NULL, 1780833787000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780833787000, X'D951813DBE0824DB9B118ECB4CA9D751D1B0283B107679DBD80019A7C2EB876A', 15),
('app_f33f2fb35ba45e6a', 'production', '2000000900000016', '2000000900000016', 'lantern.pro.monthly', '21000001', 'Auto-Renewable Subscription', 'RENEWAL', 'PURCHASED', 1, 4990, 'USD', 'USA', 1780833787000, 1780833787000, 1783425787000, 1783425787000, 1783425787000, NULL, 1780833787000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '2000000000000009', NULL, '704000000000000001', NULL, NULL, 1780833787000, X'66FAEC3548F7BB9735EAEB5922582CDC3813D763DEAAD67EF93A3E6B78A59BCB', 16);
insert into subscriptions ("app_id", "environment", "original_transaction_id", "transaction_id", "product_id", "group_id", "ownership", "storefront", "price_milli", "currency", "offer_type", "offer_discount", "started_at", "period_started_at", "expires_at", "committed_until_at", "grace_until_at", "in_billing_retry", "auto_renew_status", "next_product_id", "renewal_price_milli", "expiration_intent", "revoked_at", "apple_status", "apple_status_at") values
('app_f33f2fb35ba45e6a', 'production', '2000000900000001', '2000000900000001', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780315200000, 1780315200000, 1782907200000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780315200000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000002', '2000000900000002', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780315200000, 1780315200000, 1782907200000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780315200000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000003', '2000000900000003', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780401600000, 1780401600000, 1782993600000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780401600000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000004', '2000000900000004', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780401600000, 1780401600000, 1782993600000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780401600000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000005', '2000000900000005', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780488000000, 1780488000000, 1783080000000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780488000000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000006', '2000000900000006', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780488000000, 1780488000000, 1783080000000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780488000000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000007', '2000000900000007', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780574400000, 1780574400000, 1783166400000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780574400000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000008', '2000000900000008', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780574400000, 1780574400000, 1783166400000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780574400000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000009', '2000000900000009', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780660800000, 1780660800000, 1783252800000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780660800000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000010', '2000000900000010', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780660800000, 1780660800000, 1783252800000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780660800000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000011', '2000000900000011', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780747200000, 1780747200000, 1783339200000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780747200000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000012', '2000000900000012', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780747200000, 1780747200000, 1783339200000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780747200000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000013', '2000000900000013', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780833600000, 1780833600000, 1783425600000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780833600000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000014', '2000000900000014', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780833600000, 1780833600000, 1783425600000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780833600000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000015', '2000000900000015', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780833787000, 1780833787000, 1783425787000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780833787000),
('app_f33f2fb35ba45e6a', 'production', '2000000900000016', '2000000900000016', 'lantern.pro.monthly', '21000001', 'PURCHASED', 'USA', 4990, 'USD', NULL, NULL, 1780833787000, 1780833787000, 1783425787000, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1, 1780833787000);
insert into customers ("id", "app_id", "environment", "original_transaction_id", "original_purchased_at", "canonical_id") values
('cus_0e69785ce86170be8c00eb38', 'app_f33f2fb35ba45e6a', 'production', '2000000900000009', 1780660800000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_185a9dadc27ecd9c50889fa5', 'app_f33f2fb35ba45e6a', 'production', '2000000900000003', 1780401600000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_272e2169afa8a7c9ed499dd1', 'app_f33f2fb35ba45e6a', 'production', '2000000900000014', 1780833600000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_3828f41134412bfa2250b5fe', 'app_f33f2fb35ba45e6a', 'production', '2000000900000015', 1780833787000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_3a4f438509290852b7c4bf1d', 'app_f33f2fb35ba45e6a', 'production', '2000000900000016', 1780833787000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_3e28aee86a6cdb770227d862', 'app_f33f2fb35ba45e6a', 'production', '2000000900000012', 1780747200000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_45a848086140cb842f652ba7', 'app_f33f2fb35ba45e6a', 'production', '2000000900000010', 1780660800000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_4a498f0efe8adb360a2fbeb3', 'app_f33f2fb35ba45e6a', 'production', '2000000900000011', 1780747200000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_6ca0acbdb3acac31aa4267fc', 'app_f33f2fb35ba45e6a', 'production', '2000000900000002', 1780315200000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_7893627b39e36253f87d7508', 'app_f33f2fb35ba45e6a', 'production', '2000000900000008', 1780574400000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_81d14dfa8a1d9794abe8b751', 'app_f33f2fb35ba45e6a', 'production', '2000000900000013', 1780833600000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_9c03f550207265f59a7d2198', 'app_f33f2fb35ba45e6a', 'production', '2000000900000007', 1780574400000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_ab874080e41fec56fb77dbd0', 'app_f33f2fb35ba45e6a', 'production', '2000000900000006', 1780488000000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_b8544d829a78c608b2ca283e', 'app_f33f2fb35ba45e6a', 'production', '2000000900000005', 1780488000000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_efd64b45eec03ec0311f37f4', 'app_f33f2fb35ba45e6a', 'production', '2000000900000004', 1780401600000, 'cus_6ca0acbdb3acac31aa4267fc'),
('cus_f477babdabf35a6e8537a2d6', 'app_f33f2fb35ba45e6a', 'production', '2000000900000001', 1780315200000, 'cus_6ca0acbdb3acac31aa4267fc');
insert into customer_bridges ("app_id", "environment", "app_transaction_id", "customer_id") values
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_0e69785ce86170be8c00eb38'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_185a9dadc27ecd9c50889fa5'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_272e2169afa8a7c9ed499dd1'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_3828f41134412bfa2250b5fe'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_3a4f438509290852b7c4bf1d'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_3e28aee86a6cdb770227d862'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_45a848086140cb842f652ba7'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_4a498f0efe8adb360a2fbeb3'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_6ca0acbdb3acac31aa4267fc'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_7893627b39e36253f87d7508'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_81d14dfa8a1d9794abe8b751'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_9c03f550207265f59a7d2198'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_ab874080e41fec56fb77dbd0'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_b8544d829a78c608b2ca283e'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_efd64b45eec03ec0311f37f4'),
('app_f33f2fb35ba45e6a', 'production', '704000000000000001', 'cus_f477babdabf35a6e8537a2d6');
insert into metric_lineages ("id", "app_id", "environment", "original_transaction_id") values
(1, 'app_f33f2fb35ba45e6a', 'production', '2000000900000001'),
(10, 'app_f33f2fb35ba45e6a', 'production', '2000000900000010'),
(11, 'app_f33f2fb35ba45e6a', 'production', '2000000900000011'),
(12, 'app_f33f2fb35ba45e6a', 'production', '2000000900000012'),
(13, 'app_f33f2fb35ba45e6a', 'production', '2000000900000013'),
(14, 'app_f33f2fb35ba45e6a', 'production', '2000000900000014'),
(15, 'app_f33f2fb35ba45e6a', 'production', '2000000900000015'),
(16, 'app_f33f2fb35ba45e6a', 'production', '2000000900000016'),
(2, 'app_f33f2fb35ba45e6a', 'production', '2000000900000002'),
(3, 'app_f33f2fb35ba45e6a', 'production', '2000000900000003'),
(4, 'app_f33f2fb35ba45e6a', 'production', '2000000900000004'),
(5, 'app_f33f2fb35ba45e6a', 'production', '2000000900000005'),
(6, 'app_f33f2fb35ba45e6a', 'production', '2000000900000006'),
(7, 'app_f33f2fb35ba45e6a', 'production', '2000000900000007'),
(8, 'app_f33f2fb35ba45e6a', 'production', '2000000900000008'),
(9, 'app_f33f2fb35ba45e6a', 'production', '2000000900000009');
insert into metric_generations ("id", "organization_id", "state", "time_zone", "currency", "factors", "formula", "made_up_to", "started_at", "stood_still_at") values
(1, 'org_f7c51b5f6b7567a6', 'shown', 'UTC', 'USD', 'calendar', 2, NULL, 1780315200000, NULL);
insert into metric_counted ("generation", "lineage_id", "counted_at", "due_at", "is_provisional", "proceeds_milli", "proceeds_estimated", "last_charge_day") values
(1, 1, 1780315200000, 1782907200000, 0, 3493, 1, 20605),
(1, 10, 1780660800000, 1783252800000, 0, 3493, 1, 20609),
(1, 11, 1780747200000, 1783339200000, 0, 3493, 1, 20610),
(1, 12, 1780747200000, 1783339200000, 0, 3493, 1, 20610),
(1, 13, 1780833600000, 1783425600000, 0, 3493, 1, 20611),
(1, 14, 1780833600000, 1783425600000, 0, 3493, 1, 20611),
(1, 15, 1780833787000, 1783425787000, 0, 3493, 1, 20611),
(1, 16, 1780833787000, 1783425787000, 0, 3493, 1, 20611),
(1, 2, 1780315200000, 1782907200000, 0, 3493, 1, 20605),
(1, 3, 1780401600000, 1782993600000, 0, 3493, 1, 20606),
(1, 4, 1780401600000, 1782993600000, 0, 3493, 1, 20606),
(1, 5, 1780488000000, 1783080000000, 0, 3493, 1, 20607),
(1, 6, 1780488000000, 1783080000000, 0, 3493, 1, 20607),
(1, 7, 1780574400000, 1783166400000, 0, 3493, 1, 20608),
(1, 8, 1780574400000, 1783166400000, 0, 3493, 1, 20608),
(1, 9, 1780660800000, 1783252800000, 0, 3493, 1, 20609);
insert into metric_rows ("generation", "lineage_id", "position", "on_at", "known_at", "measure", "product_id", "storefront", "period", "offer", "currency", "milli", "base_milli", "count") values
(1, 1, 0, 1780315200000, 1780315200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 1, 1, 1780315200000, 1780315200000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 1, 2, 1780315200000, 1780315200000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 1, 3, 1780315200000, 1780315200000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 1, 4, 1782907200000, 1782907200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 1, 5, 1782907200000, 1782907200000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 10, 0, 1780660800000, 1780660800000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 10, 1, 1780660800000, 1780660800000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 10, 2, 1780660800000, 1780660800000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 10, 3, 1780660800000, 1780660800000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 10, 4, 1783252800000, 1783252800000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 10, 5, 1783252800000, 1783252800000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 11, 0, 1780747200000, 1780747200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 11, 1, 1780747200000, 1780747200000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 11, 2, 1780747200000, 1780747200000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 11, 3, 1780747200000, 1780747200000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 11, 4, 1783339200000, 1783339200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 11, 5, 1783339200000, 1783339200000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 12, 0, 1780747200000, 1780747200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 12, 1, 1780747200000, 1780747200000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 12, 2, 1780747200000, 1780747200000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 12, 3, 1780747200000, 1780747200000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 12, 4, 1783339200000, 1783339200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 12, 5, 1783339200000, 1783339200000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 13, 0, 1780833600000, 1780833600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 13, 1, 1780833600000, 1780833600000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 13, 2, 1780833600000, 1780833600000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 13, 3, 1780833600000, 1780833600000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 13, 4, 1783425600000, 1783425600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 13, 5, 1783425600000, 1783425600000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 14, 0, 1780833600000, 1780833600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 14, 1, 1780833600000, 1780833600000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 14, 2, 1780833600000, 1780833600000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 14, 3, 1780833600000, 1780833600000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 14, 4, 1783425600000, 1783425600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 14, 5, 1783425600000, 1783425600000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 15, 0, 1780833787000, 1780833787000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 15, 1, 1780833787000, 1780833787000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 15, 2, 1780833787000, 1780833787000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 15, 3, 1780833787000, 1780833787000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 15, 4, 1783425787000, 1783425787000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 15, 5, 1783425787000, 1783425787000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 16, 0, 1780833787000, 1780833787000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 16, 1, 1780833787000, 1780833787000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 16, 2, 1780833787000, 1780833787000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 16, 3, 1780833787000, 1780833787000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 16, 4, 1783425787000, 1783425787000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 16, 5, 1783425787000, 1783425787000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 2, 0, 1780315200000, 1780315200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 2, 1, 1780315200000, 1780315200000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 2, 2, 1780315200000, 1780315200000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 2, 3, 1780315200000, 1780315200000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 2, 4, 1782907200000, 1782907200000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 2, 5, 1782907200000, 1782907200000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 3, 0, 1780401600000, 1780401600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 3, 1, 1780401600000, 1780401600000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 3, 2, 1780401600000, 1780401600000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 3, 3, 1780401600000, 1780401600000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 3, 4, 1782993600000, 1782993600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 3, 5, 1782993600000, 1782993600000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 4, 0, 1780401600000, 1780401600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 4, 1, 1780401600000, 1780401600000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 4, 2, 1780401600000, 1780401600000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 4, 3, 1780401600000, 1780401600000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 4, 4, 1782993600000, 1782993600000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 4, 5, 1782993600000, 1782993600000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 5, 0, 1780488000000, 1780488000000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 5, 1, 1780488000000, 1780488000000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 5, 2, 1780488000000, 1780488000000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 5, 3, 1780488000000, 1780488000000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 5, 4, 1783080000000, 1783080000000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 5, 5, 1783080000000, 1783080000000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 6, 0, 1780488000000, 1780488000000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 6, 1, 1780488000000, 1780488000000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 6, 2, 1780488000000, 1780488000000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 6, 3, 1780488000000, 1780488000000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 6, 4, 1783080000000, 1783080000000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 6, 5, 1783080000000, 1783080000000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 7, 0, 1780574400000, 1780574400000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 7, 1, 1780574400000, 1780574400000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 7, 2, 1780574400000, 1780574400000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 7, 3, 1780574400000, 1780574400000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 7, 4, 1783166400000, 1783166400000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 7, 5, 1783166400000, 1783166400000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 8, 0, 1780574400000, 1780574400000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 8, 1, 1780574400000, 1780574400000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 8, 2, 1780574400000, 1780574400000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 8, 3, 1780574400000, 1780574400000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 8, 4, 1783166400000, 1783166400000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 8, 5, 1783166400000, 1783166400000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 9, 0, 1780660800000, 1780660800000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 9, 1, 1780660800000, 1780660800000, 'mrr.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 9, 2, 1780660800000, 1780660800000, 'paid.direct', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', '', 0, 0, 1),
(1, 9, 3, 1780660800000, 1780660800000, 'revenue.new', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', 4990, 4990, 1),
(1, 9, 4, 1783252800000, 1783252800000, 'mrr', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1),
(1, 9, 5, 1783252800000, 1783252800000, 'mrr.churn_other', 'lantern.pro.monthly', 'USA', 'P1M', 'paid', 'USD', -4990, -4990, -1);
insert into metric_commission ("id", "counted_by") values
(1, '{"commission_percent":30,"commission_after_a_year_percent":15,"small_business":false}');
insert into metric_series ("id", "generation", "app_id", "environment", "zone", "measure", "dimension", "value") values
(1, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'fine', '["lantern.pro.monthly","USA","P1M","paid","USD"]'),
(10, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'all', ''),
(11, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'product', 'lantern.pro.monthly'),
(12, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'country', 'USA'),
(13, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'period', 'P1M'),
(14, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'offer', 'paid'),
(15, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'currency', 'USD'),
(16, 1, 'app_f33f2fb35ba45e6a', 'production', 'America/Los_Angeles', 'mrr.new', 'fine', '["lantern.pro.monthly","USA","P1M","paid","USD"]'),
(17, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'fine', '["lantern.pro.monthly","USA","P1M","paid",""]'),
(18, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'all', ''),
(19, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'product', 'lantern.pro.monthly'),
(2, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'all', ''),
(20, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'country', 'USA'),
(21, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'period', 'P1M'),
(22, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'offer', 'paid'),
(23, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'paid.direct', 'currency', ''),
(24, 1, 'app_f33f2fb35ba45e6a', 'production', 'America/Los_Angeles', 'paid.direct', 'fine', '["lantern.pro.monthly","USA","P1M","paid",""]'),
(25, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'fine', '["lantern.pro.monthly","USA","P1M","paid","USD"]'),
(26, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'all', ''),
(27, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'product', 'lantern.pro.monthly'),
(28, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'country', 'USA'),
(29, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'period', 'P1M'),
(3, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'product', 'lantern.pro.monthly'),
(30, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'offer', 'paid'),
(31, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'revenue.new', 'currency', 'USD'),
(32, 1, 'app_f33f2fb35ba45e6a', 'production', 'America/Los_Angeles', 'revenue.new', 'fine', '["lantern.pro.monthly","USA","P1M","paid","USD"]'),
(4, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'country', 'USA'),
(5, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'period', 'P1M'),
(6, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'offer', 'paid'),
(7, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr', 'currency', 'USD'),
(8, 1, 'app_f33f2fb35ba45e6a', 'production', 'America/Los_Angeles', 'mrr', 'fine', '["lantern.pro.monthly","USA","P1M","paid","USD"]'),
(9, 1, 'app_f33f2fb35ba45e6a', 'production', 'UTC', 'mrr.new', 'fine', '["lantern.pro.monthly","USA","P1M","paid","USD"]');
insert into metric_days ("series_id", "day", "milli", "base_milli", "count") values
(1, 20605, 9980, 9980, 2),
(1, 20606, 9980, 9980, 2),
(1, 20607, 9980, 9980, 2),
(1, 20608, 9980, 9980, 2),
(1, 20609, 9980, 9980, 2),
(1, 20610, 9980, 9980, 2),
(1, 20611, 19960, 19960, 4),
(10, 20605, 0, 9980, 2),
(10, 20606, 0, 9980, 2),
(10, 20607, 0, 9980, 2),
(10, 20608, 0, 9980, 2),
(10, 20609, 0, 9980, 2),
(10, 20610, 0, 9980, 2),
(10, 20611, 0, 19960, 4),
(11, 20605, 0, 9980, 2),
(11, 20606, 0, 9980, 2),
(11, 20607, 0, 9980, 2),
(11, 20608, 0, 9980, 2),
(11, 20609, 0, 9980, 2),
(11, 20610, 0, 9980, 2),
(11, 20611, 0, 19960, 4),
(12, 20605, 0, 9980, 2),
(12, 20606, 0, 9980, 2),
(12, 20607, 0, 9980, 2),
(12, 20608, 0, 9980, 2),
(12, 20609, 0, 9980, 2),
(12, 20610, 0, 9980, 2),
(12, 20611, 0, 19960, 4),
(13, 20605, 0, 9980, 2),
(13, 20606, 0, 9980, 2),
(13, 20607, 0, 9980, 2),
(13, 20608, 0, 9980, 2),
(13, 20609, 0, 9980, 2),
(13, 20610, 0, 9980, 2),
(13, 20611, 0, 19960, 4),
(14, 20605, 0, 9980, 2),
(14, 20606, 0, 9980, 2),
(14, 20607, 0, 9980, 2),
(14, 20608, 0, 9980, 2),
(14, 20609, 0, 9980, 2),
(14, 20610, 0, 9980, 2),
(14, 20611, 0, 19960, 4),
(15, 20605, 9980, 9980, 2),
(15, 20606, 9980, 9980, 2),
(15, 20607, 9980, 9980, 2),
(15, 20608, 9980, 9980, 2),
(15, 20609, 9980, 9980, 2),
(15, 20610, 9980, 9980, 2),
(15, 20611, 19960, 19960, 4),
(16, 20605, 9980, 9980, 2),
(16, 20606, 9980, 9980, 2),
(16, 20607, 9980, 9980, 2),
(16, 20608, 9980, 9980, 2),
(16, 20609, 9980, 9980, 2),
(16, 20610, 9980, 9980, 2),
(16, 20611, 19960, 19960, 4),
(17, 20605, 0, 0, 2),
(17, 20606, 0, 0, 2),
(17, 20607, 0, 0, 2),
(17, 20608, 0, 0, 2),
(17, 20609, 0, 0, 2),
(17, 20610, 0, 0, 2),
(17, 20611, 0, 0, 4),
(18, 20605, 0, 0, 2),
(18, 20606, 0, 0, 2),
(18, 20607, 0, 0, 2),
(18, 20608, 0, 0, 2),
(18, 20609, 0, 0, 2),
(18, 20610, 0, 0, 2),
(18, 20611, 0, 0, 4),
(19, 20605, 0, 0, 2),
(19, 20606, 0, 0, 2),
(19, 20607, 0, 0, 2),
(19, 20608, 0, 0, 2),
(19, 20609, 0, 0, 2),
(19, 20610, 0, 0, 2),
(19, 20611, 0, 0, 4),
(2, 20605, 0, 9980, 2),
(2, 20606, 0, 9980, 2),
(2, 20607, 0, 9980, 2),
(2, 20608, 0, 9980, 2),
(2, 20609, 0, 9980, 2),
(2, 20610, 0, 9980, 2),
(2, 20611, 0, 19960, 4),
(20, 20605, 0, 0, 2),
(20, 20606, 0, 0, 2),
(20, 20607, 0, 0, 2),
(20, 20608, 0, 0, 2),
(20, 20609, 0, 0, 2),
(20, 20610, 0, 0, 2),
(20, 20611, 0, 0, 4),
(21, 20605, 0, 0, 2),
(21, 20606, 0, 0, 2),
(21, 20607, 0, 0, 2),
(21, 20608, 0, 0, 2),
(21, 20609, 0, 0, 2),
(21, 20610, 0, 0, 2),
(21, 20611, 0, 0, 4),
(22, 20605, 0, 0, 2),
(22, 20606, 0, 0, 2),
(22, 20607, 0, 0, 2),
(22, 20608, 0, 0, 2),
(22, 20609, 0, 0, 2),
(22, 20610, 0, 0, 2),
(22, 20611, 0, 0, 4),
(23, 20605, 0, 0, 2),
(23, 20606, 0, 0, 2),
(23, 20607, 0, 0, 2),
(23, 20608, 0, 0, 2),
(23, 20609, 0, 0, 2),
(23, 20610, 0, 0, 2),
(23, 20611, 0, 0, 4),
(24, 20605, 0, 0, 2),
(24, 20606, 0, 0, 2),
(24, 20607, 0, 0, 2),
(24, 20608, 0, 0, 2),
(24, 20609, 0, 0, 2),
(24, 20610, 0, 0, 2),
(24, 20611, 0, 0, 4),
(25, 20605, 9980, 9980, 2),
(25, 20606, 9980, 9980, 2),
(25, 20607, 9980, 9980, 2),
(25, 20608, 9980, 9980, 2),
(25, 20609, 9980, 9980, 2),
(25, 20610, 9980, 9980, 2),
(25, 20611, 19960, 19960, 4),
(26, 20605, 0, 9980, 2),
(26, 20606, 0, 9980, 2),
(26, 20607, 0, 9980, 2),
(26, 20608, 0, 9980, 2),
(26, 20609, 0, 9980, 2),
(26, 20610, 0, 9980, 2),
(26, 20611, 0, 19960, 4),
(27, 20605, 0, 9980, 2),
(27, 20606, 0, 9980, 2),
(27, 20607, 0, 9980, 2),
(27, 20608, 0, 9980, 2),
(27, 20609, 0, 9980, 2),
(27, 20610, 0, 9980, 2),
(27, 20611, 0, 19960, 4),
(28, 20605, 0, 9980, 2),
(28, 20606, 0, 9980, 2),
(28, 20607, 0, 9980, 2),
(28, 20608, 0, 9980, 2),
(28, 20609, 0, 9980, 2),
(28, 20610, 0, 9980, 2),
(28, 20611, 0, 19960, 4),
(29, 20605, 0, 9980, 2),
(29, 20606, 0, 9980, 2),
(29, 20607, 0, 9980, 2),
(29, 20608, 0, 9980, 2),
(29, 20609, 0, 9980, 2),
(29, 20610, 0, 9980, 2),
(29, 20611, 0, 19960, 4),
(3, 20605, 0, 9980, 2),
(3, 20606, 0, 9980, 2),
(3, 20607, 0, 9980, 2),
(3, 20608, 0, 9980, 2),
(3, 20609, 0, 9980, 2),
(3, 20610, 0, 9980, 2),
(3, 20611, 0, 19960, 4),
(30, 20605, 0, 9980, 2),
(30, 20606, 0, 9980, 2),
(30, 20607, 0, 9980, 2),
(30, 20608, 0, 9980, 2),
(30, 20609, 0, 9980, 2),
(30, 20610, 0, 9980, 2),
(30, 20611, 0, 19960, 4),
(31, 20605, 9980, 9980, 2),
(31, 20606, 9980, 9980, 2),
(31, 20607, 9980, 9980, 2),
(31, 20608, 9980, 9980, 2),
(31, 20609, 9980, 9980, 2),
(31, 20610, 9980, 9980, 2),
(31, 20611, 19960, 19960, 4),
(32, 20605, 9980, 9980, 2),
(32, 20606, 9980, 9980, 2),
(32, 20607, 9980, 9980, 2),
(32, 20608, 9980, 9980, 2),
(32, 20609, 9980, 9980, 2),
(32, 20610, 9980, 9980, 2),
(32, 20611, 19960, 19960, 4),
(4, 20605, 0, 9980, 2),
(4, 20606, 0, 9980, 2),
(4, 20607, 0, 9980, 2),
(4, 20608, 0, 9980, 2),
(4, 20609, 0, 9980, 2),
(4, 20610, 0, 9980, 2),
(4, 20611, 0, 19960, 4),
(5, 20605, 0, 9980, 2),
(5, 20606, 0, 9980, 2),
(5, 20607, 0, 9980, 2),
(5, 20608, 0, 9980, 2),
(5, 20609, 0, 9980, 2),
(5, 20610, 0, 9980, 2),
(5, 20611, 0, 19960, 4),
(6, 20605, 0, 9980, 2),
(6, 20606, 0, 9980, 2),
(6, 20607, 0, 9980, 2),
(6, 20608, 0, 9980, 2),
(6, 20609, 0, 9980, 2),
(6, 20610, 0, 9980, 2),
(6, 20611, 0, 19960, 4),
(7, 20605, 9980, 9980, 2),
(7, 20606, 9980, 9980, 2),
(7, 20607, 9980, 9980, 2),
(7, 20608, 9980, 9980, 2),
(7, 20609, 9980, 9980, 2),
(7, 20610, 9980, 9980, 2),
(7, 20611, 19960, 19960, 4),
(8, 20605, 9980, 9980, 2),
(8, 20606, 9980, 9980, 2),
(8, 20607, 9980, 9980, 2),
(8, 20608, 9980, 9980, 2),
(8, 20609, 9980, 9980, 2),
(8, 20610, 9980, 9980, 2),
(8, 20611, 19960, 19960, 4),
(9, 20605, 9980, 9980, 2),
(9, 20606, 9980, 9980, 2),
(9, 20607, 9980, 9980, 2),
(9, 20608, 9980, 9980, 2),
(9, 20609, 9980, 9980, 2),
(9, 20610, 9980, 9980, 2),
(9, 20611, 19960, 19960, 4);
insert into customer_scopes ("id", "generation", "app_id", "environment") values
(1, 1, 'app_f33f2fb35ba45e6a', 'production');
insert into customer_values ("generation", "lineage_id", "scope_id", "id", "lineages", "ltv_milli", "ends_at", "status", "product_id", "storefront", "next_renewal_at", "payments", "unpriced", "months_milli", "charged_milli", "refunded_milli", "prorated_milli", "unconverted", "mrr_milli", "risk_milli", "proceeds_milli", "proceeds_estimated", "first_paid_at", "last_paid_at", "last_seen_at") values
(1, 2, 1, 'cus_6ca0acbdb3acac31aa4267fc', 16, 79840, NULL, 'renewing', 'lantern.pro.monthly', 'USA', 1782907200000, 16, 0, 16000, 79840, 0, 0, NULL, 79840, 0, 55888, 16, 1780315200000, 1780833787000, 1780833787000);
insert into cohort_series ("id", "generation", "app_id", "environment", "kind", "product_id", "storefront", "period") values
(1, 1, 'app_f33f2fb35ba45e6a', 'production', 'retention', '*', '*', 'P1M'),
(10, 1, 'app_f33f2fb35ba45e6a', 'production', 'ltv', 'lantern.pro.monthly', '*', '*'),
(11, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.day', 'lantern.pro.monthly', '*', '*'),
(12, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.week', 'lantern.pro.monthly', '*', '*'),
(13, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.month', 'lantern.pro.monthly', '*', '*'),
(14, 1, 'app_f33f2fb35ba45e6a', 'production', 'ltv', '*', 'USA', '*'),
(15, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.day', '*', 'USA', '*'),
(16, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.week', '*', 'USA', '*'),
(17, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.month', '*', 'USA', '*'),
(18, 1, 'app_f33f2fb35ba45e6a', 'production', 'ltv', 'lantern.pro.monthly', 'USA', '*'),
(19, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.day', 'lantern.pro.monthly', 'USA', '*'),
(2, 1, 'app_f33f2fb35ba45e6a', 'production', 'retention', 'lantern.pro.monthly', '*', 'P1M'),
(20, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.week', 'lantern.pro.monthly', 'USA', '*'),
(21, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.month', 'lantern.pro.monthly', 'USA', '*'),
(3, 1, 'app_f33f2fb35ba45e6a', 'production', 'retention', '*', 'USA', 'P1M'),
(4, 1, 'app_f33f2fb35ba45e6a', 'production', 'retention', 'lantern.pro.monthly', 'USA', 'P1M'),
(5, 1, 'app_f33f2fb35ba45e6a', 'production', 'ltv', '*', '*', '*'),
(6, 1, 'app_f33f2fb35ba45e6a', 'production', 'ltv.parts', 'lantern.pro.monthly', 'USA', '*'),
(7, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.day', '*', '*', '*'),
(8, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.week', '*', '*', '*'),
(9, 1, 'app_f33f2fb35ba45e6a', 'production', 'payers.month', '*', '*', '*');
insert into cohort_cells ("series_id", "cohort", "position", "count", "charged_milli", "refunded_milli", "prorated_milli") values
(1, 20605, 0, 2, 0, 0, 0),
(1, 20605, 1, -2, 0, 0, 0),
(1, 20606, 0, 2, 0, 0, 0),
(1, 20606, 1, -2, 0, 0, 0),
(1, 20607, 0, 2, 0, 0, 0),
(1, 20607, 1, -2, 0, 0, 0),
(1, 20608, 0, 2, 0, 0, 0),
(1, 20608, 1, -2, 0, 0, 0),
(1, 20609, 0, 2, 0, 0, 0),
(1, 20609, 1, -2, 0, 0, 0),
(1, 20610, 0, 2, 0, 0, 0),
(1, 20610, 1, -2, 0, 0, 0),
(1, 20611, 0, 4, 0, 0, 0),
(1, 20611, 1, -4, 0, 0, 0),
(10, 20605, 0, 1, 9980, 0, 0),
(10, 20605, 1, 0, 9980, 0, 0),
(10, 20605, 2, 0, 9980, 0, 0),
(10, 20605, 3, 0, 9980, 0, 0),
(10, 20605, 4, 0, 9980, 0, 0),
(10, 20605, 5, 0, 9980, 0, 0),
(10, 20605, 6, 0, 19960, 0, 0),
(11, 20605, 0, 1, 9980, 0, 0),
(11, 20606, 0, 1, 9980, 0, 0),
(11, 20607, 0, 1, 9980, 0, 0),
(11, 20608, 0, 1, 9980, 0, 0),
(11, 20609, 0, 1, 9980, 0, 0),
(11, 20610, 0, 1, 9980, 0, 0),
(11, 20611, 0, 1, 19960, 0, 0),
(12, 2944, 0, 1, 79840, 0, 0),
(13, 677, 0, 1, 79840, 0, 0),
(14, 20605, 0, 1, 9980, 0, 0),
(14, 20605, 1, 0, 9980, 0, 0),
(14, 20605, 2, 0, 9980, 0, 0),
(14, 20605, 3, 0, 9980, 0, 0),
(14, 20605, 4, 0, 9980, 0, 0),
(14, 20605, 5, 0, 9980, 0, 0),
(14, 20605, 6, 0, 19960, 0, 0),
(15, 20605, 0, 1, 9980, 0, 0),
(15, 20606, 0, 1, 9980, 0, 0),
(15, 20607, 0, 1, 9980, 0, 0),
(15, 20608, 0, 1, 9980, 0, 0),
(15, 20609, 0, 1, 9980, 0, 0),
(15, 20610, 0, 1, 9980, 0, 0),
(15, 20611, 0, 1, 19960, 0, 0),
(16, 2944, 0, 1, 79840, 0, 0),
(17, 677, 0, 1, 79840, 0, 0),
(18, 20605, 0, 1, 9980, 0, 0),
(18, 20605, 1, 0, 9980, 0, 0),
(18, 20605, 2, 0, 9980, 0, 0),
(18, 20605, 3, 0, 9980, 0, 0),
(18, 20605, 4, 0, 9980, 0, 0),
(18, 20605, 5, 0, 9980, 0, 0),
(18, 20605, 6, 0, 19960, 0, 0),
(19, 20605, 0, 1, 9980, 0, 0),
(19, 20606, 0, 1, 9980, 0, 0),
(19, 20607, 0, 1, 9980, 0, 0),
(19, 20608, 0, 1, 9980, 0, 0),
(19, 20609, 0, 1, 9980, 0, 0),
(19, 20610, 0, 1, 9980, 0, 0),
(19, 20611, 0, 1, 19960, 0, 0),
(2, 20605, 0, 2, 0, 0, 0),
(2, 20605, 1, -2, 0, 0, 0),
(2, 20606, 0, 2, 0, 0, 0),
(2, 20606, 1, -2, 0, 0, 0),
(2, 20607, 0, 2, 0, 0, 0),
(2, 20607, 1, -2, 0, 0, 0),
(2, 20608, 0, 2, 0, 0, 0),
(2, 20608, 1, -2, 0, 0, 0),
(2, 20609, 0, 2, 0, 0, 0),
(2, 20609, 1, -2, 0, 0, 0),
(2, 20610, 0, 2, 0, 0, 0),
(2, 20610, 1, -2, 0, 0, 0),
(2, 20611, 0, 4, 0, 0, 0),
(2, 20611, 1, -4, 0, 0, 0),
(20, 2944, 0, 1, 79840, 0, 0),
(21, 677, 0, 1, 79840, 0, 0),
(3, 20605, 0, 2, 0, 0, 0),
(3, 20605, 1, -2, 0, 0, 0),
(3, 20606, 0, 2, 0, 0, 0),
(3, 20606, 1, -2, 0, 0, 0),
(3, 20607, 0, 2, 0, 0, 0),
(3, 20607, 1, -2, 0, 0, 0),
(3, 20608, 0, 2, 0, 0, 0),
(3, 20608, 1, -2, 0, 0, 0),
(3, 20609, 0, 2, 0, 0, 0),
(3, 20609, 1, -2, 0, 0, 0),
(3, 20610, 0, 2, 0, 0, 0),
(3, 20610, 1, -2, 0, 0, 0),
(3, 20611, 0, 4, 0, 0, 0),
(3, 20611, 1, -4, 0, 0, 0),
(4, 20605, 0, 2, 0, 0, 0),
(4, 20605, 1, -2, 0, 0, 0),
(4, 20606, 0, 2, 0, 0, 0),
(4, 20606, 1, -2, 0, 0, 0),
(4, 20607, 0, 2, 0, 0, 0),
(4, 20607, 1, -2, 0, 0, 0),
(4, 20608, 0, 2, 0, 0, 0),
(4, 20608, 1, -2, 0, 0, 0),
(4, 20609, 0, 2, 0, 0, 0),
(4, 20609, 1, -2, 0, 0, 0),
(4, 20610, 0, 2, 0, 0, 0),
(4, 20610, 1, -2, 0, 0, 0),
(4, 20611, 0, 4, 0, 0, 0),
(4, 20611, 1, -4, 0, 0, 0),
(5, 20605, 0, 1, 9980, 0, 0),
(5, 20605, 1, 0, 9980, 0, 0),
(5, 20605, 2, 0, 9980, 0, 0),
(5, 20605, 3, 0, 9980, 0, 0),
(5, 20605, 4, 0, 9980, 0, 0),
(5, 20605, 5, 0, 9980, 0, 0),
(5, 20605, 6, 0, 19960, 0, 0),
(6, 20605, 0, 0, 9980, 0, 0),
(6, 20605, 1, 0, 9980, 0, 0),
(6, 20605, 2, 0, 9980, 0, 0),
(6, 20605, 3, 0, 9980, 0, 0),
(6, 20605, 4, 0, 9980, 0, 0),
(6, 20605, 5, 0, 9980, 0, 0),
(6, 20605, 6, 0, 19960, 0, 0),
(7, 20605, 0, 1, 9980, 0, 0),
(7, 20606, 0, 1, 9980, 0, 0),
(7, 20607, 0, 1, 9980, 0, 0),
(7, 20608, 0, 1, 9980, 0, 0),
(7, 20609, 0, 1, 9980, 0, 0),
(7, 20610, 0, 1, 9980, 0, 0),
(7, 20611, 0, 1, 19960, 0, 0),
(8, 2944, 0, 1, 79840, 0, 0),
(9, 677, 0, 1, 79840, 0, 0);
insert into cohort_customers ("generation", "lineage_id", "spread") values
(1, 2, '{"money":[[20605,"lantern.pro.monthly","USA",4990,0,0,1],[20609,"lantern.pro.monthly","USA",4990,0,0,1],[20606,"lantern.pro.monthly","USA",4990,0,0,1],[20611,"lantern.pro.monthly","USA",4990,0,0,1],[20611,"lantern.pro.monthly","USA",4990,0,0,1],[20611,"lantern.pro.monthly","USA",4990,0,0,1],[20610,"lantern.pro.monthly","USA",4990,0,0,1],[20609,"lantern.pro.monthly","USA",4990,0,0,1],[20610,"lantern.pro.monthly","USA",4990,0,0,1],[20608,"lantern.pro.monthly","USA",4990,0,0,1],[20611,"lantern.pro.monthly","USA",4990,0,0,1],[20608,"lantern.pro.monthly","USA",4990,0,0,1],[20607,"lantern.pro.monthly","USA",4990,0,0,1],[20607,"lantern.pro.monthly","USA",4990,0,0,1],[20606,"lantern.pro.monthly","USA",4990,0,0,1],[20605,"lantern.pro.monthly","USA",4990,0,0,1]],"retained":[{"day":20605,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20609,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20606,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20611,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20611,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20611,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20610,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20609,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20610,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20608,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20611,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20608,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20607,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20607,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20606,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]},{"day":20605,"product_id":"lantern.pro.monthly","storefront":"USA","period":"P1M","turns":[[1,-1]]}],"failures":[]}');
insert into row_changes ("change", "source", "app_id", "key") values
(1, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000001'),
(10, 'customers', 'app_f33f2fb35ba45e6a', 'cus_185a9dadc27ecd9c50889fa5'),
(11, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000003'),
(12, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000004'),
(13, 'customers', 'app_f33f2fb35ba45e6a', 'cus_efd64b45eec03ec0311f37f4'),
(14, 'customers', 'app_f33f2fb35ba45e6a', 'cus_efd64b45eec03ec0311f37f4'),
(15, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000004'),
(16, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000005'),
(17, 'customers', 'app_f33f2fb35ba45e6a', 'cus_b8544d829a78c608b2ca283e'),
(18, 'customers', 'app_f33f2fb35ba45e6a', 'cus_b8544d829a78c608b2ca283e'),
(19, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000005'),
(2, 'customers', 'app_f33f2fb35ba45e6a', 'cus_f477babdabf35a6e8537a2d6'),
(20, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000006'),
(21, 'customers', 'app_f33f2fb35ba45e6a', 'cus_ab874080e41fec56fb77dbd0'),
(22, 'customers', 'app_f33f2fb35ba45e6a', 'cus_ab874080e41fec56fb77dbd0'),
(23, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000006'),
(24, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000007'),
(25, 'customers', 'app_f33f2fb35ba45e6a', 'cus_9c03f550207265f59a7d2198'),
(26, 'customers', 'app_f33f2fb35ba45e6a', 'cus_9c03f550207265f59a7d2198'),
(27, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000007'),
(28, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000008'),
(29, 'customers', 'app_f33f2fb35ba45e6a', 'cus_7893627b39e36253f87d7508'),
(3, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000001'),
(30, 'customers', 'app_f33f2fb35ba45e6a', 'cus_7893627b39e36253f87d7508'),
(31, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000008'),
(32, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000009'),
(33, 'customers', 'app_f33f2fb35ba45e6a', 'cus_0e69785ce86170be8c00eb38'),
(34, 'customers', 'app_f33f2fb35ba45e6a', 'cus_0e69785ce86170be8c00eb38'),
(35, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000009'),
(36, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000010'),
(37, 'customers', 'app_f33f2fb35ba45e6a', 'cus_45a848086140cb842f652ba7'),
(38, 'customers', 'app_f33f2fb35ba45e6a', 'cus_45a848086140cb842f652ba7'),
(39, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000010'),
(4, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000002'),
(40, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000011'),
(41, 'customers', 'app_f33f2fb35ba45e6a', 'cus_4a498f0efe8adb360a2fbeb3'),
(42, 'customers', 'app_f33f2fb35ba45e6a', 'cus_4a498f0efe8adb360a2fbeb3'),
(43, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000011'),
(44, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000012'),
(45, 'customers', 'app_f33f2fb35ba45e6a', 'cus_3e28aee86a6cdb770227d862'),
(46, 'customers', 'app_f33f2fb35ba45e6a', 'cus_3e28aee86a6cdb770227d862'),
(47, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000012'),
(48, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000013'),
(49, 'customers', 'app_f33f2fb35ba45e6a', 'cus_81d14dfa8a1d9794abe8b751'),
(5, 'customers', 'app_f33f2fb35ba45e6a', 'cus_6ca0acbdb3acac31aa4267fc'),
(50, 'customers', 'app_f33f2fb35ba45e6a', 'cus_81d14dfa8a1d9794abe8b751'),
(51, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000013'),
(52, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000014'),
(53, 'customers', 'app_f33f2fb35ba45e6a', 'cus_272e2169afa8a7c9ed499dd1'),
(54, 'customers', 'app_f33f2fb35ba45e6a', 'cus_272e2169afa8a7c9ed499dd1'),
(55, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000014'),
(56, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000015'),
(57, 'customers', 'app_f33f2fb35ba45e6a', 'cus_3828f41134412bfa2250b5fe'),
(58, 'customers', 'app_f33f2fb35ba45e6a', 'cus_3828f41134412bfa2250b5fe'),
(59, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000015'),
(6, 'customers', 'app_f33f2fb35ba45e6a', 'cus_f477babdabf35a6e8537a2d6'),
(60, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000016'),
(61, 'customers', 'app_f33f2fb35ba45e6a', 'cus_3a4f438509290852b7c4bf1d'),
(62, 'customers', 'app_f33f2fb35ba45e6a', 'cus_3a4f438509290852b7c4bf1d'),
(63, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000016'),
(7, 'subscriptions', 'app_f33f2fb35ba45e6a', 'production/2000000900000002'),
(8, 'transactions', 'app_f33f2fb35ba45e6a', 'production/2000000900000003'),
(9, 'customers', 'app_f33f2fb35ba45e6a', 'cus_185a9dadc27ecd9c50889fa5');
insert into endpoints ("id", "organization_id", "name", "kind", "url", "apps", "environment", "types", "is_ordered", "headers", "header_names", "source", "state", "reason", "state_since", "cursor", "failures", "probes", "down_ms", "next_probe_at", "hold_until_at", "gone_at", "last_success_at", "last_failure_at", "created_at", "deleted_at") values
('whe_e4b74bea10b513b0', 'org_f7c51b5f6b7567a6', 'backend', 'events', 'http://127.0.0.1:42985/hooks', NULL, NULL, NULL, 0, NULL, '[]', 'dashboard', 'active', NULL, 1780315200000, 33, 1, 0, 0, NULL, NULL, NULL, NULL, 1780315201000, 1780315200000, NULL);
insert into endpoint_secrets ("id", "endpoint_id", "sealed", "created_at", "expires_at") values
('whs_7095c07b00c52186', 'whe_e4b74bea10b513b0', 'v1.cac22f0cf3b449e2.yva-7_705PCvZUEfi7qLimyqyrgQBW_oZmsOmdd9g_kLekLuqRrpDEjV74ZWoBqOyqwm1QVOU8kFgBqPJhqPWXAhQ9-sBltREjlIrok4', 1780315200000, NULL);
insert into deliveries ("id", "endpoint_id", "replay_id", "event_id", "seq", "payload_id", "type", "app_id", "environment", "key", "is_test", "is_remade", "state", "reason", "attempts", "failures", "next_at", "body", "body_bytes", "body_sha256", "occurred_at", "created_at", "finished_at") values
(1, 'whe_e4b74bea10b513b0', NULL, 'evt_d4f8644aecbc32f2dca1d1a7', 1, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 1, 1, 1780315205000, X'CD54DF6FD33010FE57D03DBB959336C9EAB78A4E020921B4312131A1E8E25C5A436207FFE856A6FEEFC84937BA5118BC2D0F89CF77F6DDF7DD77B903BFEB0904B850396955EF95D1534B9A6EA806065E75E43C763D0848799A4F783EE1C9C724159C0BCEA79CF3CFC0C0D1771009831A3D82B87BB0550D0268EBCB7ADE9CE5F33992ACE42C6DD25A62522758000363D7A8D50F8C99CBE180B1EBB229649654599357459617980303ECFBD11F17CD6CD6A44D35CB2A9C6794233020BD55D6E88EB40701BD357590F1D208E3AF208D556BA54140ABB6040C6470DE7464C76C32B8B299174585558D5533CB30A7B36C56605AC7AA5CA8BE928C19533E3C8BF1C39378130617D93D6CF1495C4CE6F115C306F328DC4819ACA5BA440F2229CEF82CC9C65B1938B5D6A73D96A4B1F569DF7D43AAA0EB960E804C37A55BECFA96A62D6A4F365274E06B0C396C4F7B6BA69DD17ED3EE221A13B4B73B107075B904069DD1B48BEDEEAD925476AA6D1588F962C12387D6929663F00AF60CBC45ED70EC88B83B36C79C27E8FBA67414D0327833B9889AC4AAA557974752050696D099D8BD8BF3F7E79F96EFA2A46E3459B75151B51FAE2E5EBF595E9EAF22C660E506DD69AAE8B65796DC3DF7E9821763497B06DA78D528396834023EE869F576550E5923BEE3091A66C0A38FBD8F900759FD03C3CEA3F5FF59DE6F5C3340579AE68982F60C82230B4287B6DDFF12792C7598BA67741E0F3B10D75F18346A1D2CB978F2499B19B47EFB58083DEEE244BAE1FFD059FBD81BB4347A4B11F443657FA8FEE5F37B5C61A9CDCD0B5401830DBA12A524E740781B88C16895417BD50EA279247D4B5BD2E199E9DEFF04', 1608, X'8D6DECD4F982D28B0D704D5E3512CA3A9D54AE27835716F785A5345B2108AE99', 1780315200000, 1780315200000, NULL),
(10, 'whe_e4b74bea10b513b0', NULL, 'evt_a9fad10011b6308f258c42bf', 18, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780660832000, X'D593DD8ED33010855F05CDB55B394993B6BEABE84A20218476414820144D9C496B48ECE09FEE9655DF1D39E9B2A5542CDC412E12DB63677CCE7C730F7EDF130870A172D2AADE2BA3A79634DD520D0CBCEAC879EC7A1090F2B498F062C2F3B7492A38179C4F39E71F8081A3AF209205831A3D82B87F5C503508A09D2F71D9609D709E245591F14593E60B394BAB061818BB41ADBE61CC5D0E078CDD94CD5CE64995374535CF8B3916C000FB7E8CC74193654DDA54595EE12CA7028101E99DB24677A43D08E8ADA9838C3F8D427E2BD358B5511A04B46A47C04006E74D4776CC26832B0B891C655557194A945982384B8B7923A3F8507D261933A67C7896E3872FE39F30B8E8EF71894FE260328BAFB86D989E6C3752066BA92ED18348E60B5E147C31C41938B5D1972396A4B1F5E5D84345AAA0EB968E824C37A53BECFA96A62D6A4F365A74F46BDC725C9EF6D64C3BA3FDB6DD473526686FF720E0DDCD0A187446D33ED6BBB74A52D9A9B6552066CB258F1E5A4B5A8E9BD77060E02D6A876345C4FDE974CC79C1BE2F4A478056C19BC975A412AB969EDD9CC00A0C2CA133B17AD757AFAFDEAF5E45A46E3559B75591DB37EFAE9FBF58DD5CADA3C660E516DD65ABE8AE5796DC83F7599AA7A3F70706DA78D52839301A051F795ABF5C9743D6A8EFB4878626F0E863EDA3E401AB3F70D879B4FE2FAFF78BD70CD095A63923E8C02038B2207468DBC323E4F1AA43D73DC1793CEC407CFCC4A0519B60C9C593676566D0FADD29089C418FFBD8920E44C21974D69EC5839646EF28EAFE71B933015964E3BFB0F81482529BDB7F0B84C147065B74254A49CE81F0361083715606ED553B70F313FD9676A4C3130D7EF80E', 1613, X'9DC04440D2B51B5E507F05E010D8B8FA2679C9D53531FFE42618B85A046DD9C9', 1780660800000, 1780660832000, NULL),
(11, 'whe_e4b74bea10b513b0', NULL, 'evt_5201d947042d6d59cc210cee', 20, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780660832000, X'D5936F6FD33010C6BF0ABAD76EE5244DBAFA5D4527818410DA98909850E43897D690D8C17FBA95A9DF1D5DD2B1522A06EF202F12DB67E7FC3CF7BB0708BB1E41808F95574EF7415B337568F00E6B601074873EC8AE0701294F8B092F263C7F9FA48273C1F99473FE111878FC0A22E50C6A19248887A7055D8300DC86324F79522F66733E4BEBA2CE174AA5095788C0C0BAB534FA9BA4DCE570C0BA75D9CC559E54795354F3BC98CB0218C8BE1FE33468B2AC499B2ACB2B39CBB190C000CD563B6B3A340104F4CED651D14F49C86F655AA7D7DA8080566FE9462AFA603B746336157D5928C9A5AAEA2A934AAA2C91729616F34691F8587D464519533E3C8BF19370FA938C9EFC1D97389FD06032A3176D1BA647DBAD52D139AC4B194024F30B5E14FC628833F07A6DCE471C2AEBEAF3B1C78A54D1D42D1E04D96E8AF7B2EB5B9CB6D2047464D1C1AF71CB6179DA3B3BEDAC099B76476A6C34C1ED40C0CDF5121874D6E08EEADD3BADB0EC74DB6A10B3C5829387CEA151E3E615EC1904278D976345C4C3F174CC79C6BE2FDA1040CB18ECE48AA894558B2FAE8F6005060EA5B754BDABCBB7971F966F08A93B83CE6F3471FBEEE6EAE5ABE5F5E58A3446A736D29FB70AEF7BEDD03F7A9FA5793A7ABF67606CD08D5603A324F8C0D3EAF5AA1CB292BEE31E1A9A20C840B527C903567FE0B00FD285BFBCDE2F5E3390BEB4CD09417B06D1A3036162DBEE9F20A7AB0E5DF70CE774D883B8FDC4A0D1EBE8D0D3C993323368C3F61804CEA0973B6A490F22E10C3AE74EE2D1286BB648BA7F5CEE4440466CFC17161F43501A7BF76F8130F8C860237D299542EF41041791C1382BA309BA1DB8F9897E875B34F19906DF7F07', 1613, X'43D40F9822CDEA3B64CFE611A3235B33363186E566738D20CAD1FE6E8FB923AE', 1780660800000, 1780660832000, NULL),
(12, 'whe_e4b74bea10b513b0', NULL, 'evt_541f187916827cf409abad5a', 22, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780747232000, X'D5536D8FD3300CFE2BC89FB3296DD775CBB7899D041242E80E840442559ABA5BA04D4A5E76374EFBEFC8ED8E1B63E2E01B54559BC48EEDE7F1E37B08FB1E41808F95574EF7415B337568F0166B601074873EC8AE0701294FE7134EEFDB24159C0BCEA79CF30FC0C0E3571069CAA0964182B87F3CD03508C05D28F359D2248B6299CC1769A19A195FCA4AD6B90406D66DA4D1DF24E52E870BD66DCAA6507952E5CDBC2AF27921E7C040F6FD68A74593654DDA54595EC9598E730A8466A79D351D9A00027A67EBA8282801F92D4CEBF4461B10D0EA1D0203157DB01DBA319B8ABE9C2BC9A5AAEA2A934AAA2C917296CE8B4611F8587D464519533E3CCBF197241449464FFC8E479C4F683199D187DC86ED89BB552A3A8775290388A458F062568C511978BD31972D0E9575F565DB4347AA68EA168F806C37C53BD9F52D4E5B69023AA2E8C8D7E8723C9EF6CE4E3B6BC2B6DD131A1B4D707B10F0EE66050C3A6B704FFDEE9D565876BA6D3588D972C98943E7D0A8D1790D0706C149E3E5D811717FBA1D735EA0EF8B3624A0550C76724DAA94558BCF6E4EC40A0C1C4A6FA97BD757AFAFDEAF5E91A46E0D3ABFD5A4DB37EFAE9FBF58DD5CAD0963746A2BFD65AAF0AED70EFD03F759962DC7920E0C8C0DBAD16AD028013EEA69FD725D0E5909DFE90C0D431064A0DE13E441567FC0B00FD285BF2CEF17AE19485FDAE64C410706D1A3036162DB1E1E454EA50E53F784CEE9B207F1F11383466FA2434F37CFDACCA00DBB0721E4CBC58233E8E59E46D2834852069D7367F66894353B24DC3F8A3B03905123FE0B8A4F45501A7BFB6F0961E091C156FA522A85DE83082E228371574613743BE8E627F53BDCA1894F0CF8E13B', 1613, X'AEF156F831B96C9276C34D64ECE8C482B2DA187DAC9ADFE981C8A53E49288391', 1780747200000, 1780747232000, NULL),
(13, 'whe_e4b74bea10b513b0', NULL, 'evt_d817f505a17e9b8adcdf6d85', 24, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780747232000, X'D593DB8ED33010865F05CDB55B396993B4BEABE84A202184764148201439CEA4352476F0A1BB65D577479374D9522A16EE208A129FC7FF3FDFDC43D8F708027CACBC72BA0FDA9AA94383B7580383A03BF441763D0848799A4F38BD6F9354702E389F72CE3F00038F5F41A47306B50C12C4FDE380AE4100EE42592F92A2C97826930297D542D6AA6EF27A910103EB36D2E86F926297C306EB366553A82CA9B226AF8A2C2F640E0C64DF8FF3D46866B3266DAA5956C97986B904066876DA59D3A10920A077B68E8A0E2521BF95699DDE6803025ABD4360A0A20FB643374653D197B9925CAAAAAE665249354BA49CA779D128121FABCFA82862CA876739FE92944E92D193BFE310E7136A4CE6F4A16543F764B9552A3A8775290388A458F0625E8CA732F07A632ECF3854D6D597E71E32524553B7781464BB29DEC9AE6F71DA4A13D0914547BFC625C7E169EFECB4B3266CDB3DA9B1D104B70701EF6E56C0A0B306F794EFDE698565A7DB5683982F979C3C740E8D1A17AFE1C0203869BC1C3322EE4FBB63CC0BF67DD186005AC56027D744A5AC5A7C7673022B307028BDA5EC5D5FBDBE7ABF7A4548DD1A747EAB89DB37EFAE9FBF58DD5CAD4963746A2BFD65ABF0AED70EFD83F7B3D96C395EE9C0C0D8A01BAD064649F091A7F5CB753944257DA7353414419081724F9207ACFEC0611FA40B7F79BD5FBC66207D699B33820E0CA24707C2C4B63D3C424E571DAAEE09CE69B307F1F11383466FA2434F3BCFD2CCA00DBB0710B2E562C119F4724F25E941242983CEB9B3F96894353B24DD3F2E7726604915F35F587C0A4169ECEDBF05C2E02383ADF4A5540ABD07115C440663AF8C26E876E0E627FA1DEED0C4270AFCF01D', 1613, X'8574E2FB5DD79AA2103A3AD5C5978960E37A3436238821382759DBA3B2C6FA0E', 1780747200000, 1780747232000, NULL),
(14, 'whe_e4b74bea10b513b0', NULL, 'evt_3d43b22201a94f1a3a749b2c', 26, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780833632000, X'D5935D6FD3301486FF0A3AD76EE57C345D7D57D14920218436262426149D3827AD21B1833FBA95A9FF1D39E9582915833BC84562FBD8397EDFF39C07F0BB9E40800B959356F55E193DB5A4E98E6A60E05547CE63D7838094A7C58417133E7F9FA48273C1F99473FE111838FA0A222D18D4E811C4C3D382AA41006D7D99D57956A569CA135CE44D8219CEF345954A6060EC1AB5FA863177391C30765D3673394BAA595354F35931C7021860DF8FF13868B2AC499B2A9B5598CFA84060407AABACD11D690F027A6BEA20E34FA390DFCA3456AD950601ADDA123090C179D3911DB3C9E0CA42224759D5558612659620E669316FE2F55DA83E938C19533E3C8BF19364F14F185CF4775CE27C1207933CBEE2B6617AB4DD4819ACA5BA440F22995FF08B2C2B863803A7D6FA7CC49234B63E1F7BAC481574DDD24190E9A6748F5DDFD2B445EDC9468B0E7E8D5B0ECBD3DE9A6967B4DFB4BBA8C604EDED0E04DC5C2F81416734ED62BD7BAB24959D6A5B05225F2C78F4D05AD272DCBC823D036F513B1C2B221E8EA763CE33F67D513A02B40CDE4CAE229558B5F4E2FA08566060099D89D5BBBA7C7BF961F9262275A7C9BA8D8ADCBEBBB97AF96A797DB98A1A83951B74E7ADA2FB5E59728FDE67793A1BBDDF33D0C6AB46C981D128F8C0D3EAF5AA1CB2467DC73D343481471F6B1F250F58FD81C3CEA3F57F79BD5FBC6680AE34CD09417B06C19105A143DBEE9F208F571DBAEE19CEE36107E2F6138346AD8325174F9E949941EBB78F20148B8B8233E871175BD2814872069DB527F1A0A5D15B8ABA7F5CEE444016D9F82F2C3E86A0D4E6EEDF0261F091C1065D8952927320BC0DC4609C95417BD50EDCFC44BFA52DE9F04C83EFBF03', 1613, X'7114FC937A9AD2BA220D0F74A61D1C213BABFAE78D147BB722C8EBF435D44380', 1780833600000, 1780833632000, NULL),
(15, 'whe_e4b74bea10b513b0', NULL, 'evt_bab48ac23379f7cae225df41', 28, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780833632000, X'D593DD8ED33010855F05CDB55BB9499AB4BEABE84A20218476414820144D9C496B48ECE09FEE9655DF1D39E9B2A5542CDC412E12DB63677CCE7C730F7EDF130870A172D2AADE2BA3A79634DD520D0CBCEAC879EC7A1090F0249FF07CC28BB7B344702E389F72CE3F0003475F41240B06357A0471FFB8A06A10403B5F5658650B94499A16CBA690484932AF9B6C060C8CDDA056DF30E62E8703C66ECAA690F359356FF2AA98E705E6C000FB7E8CC74193A64DD254E9BCC26C4E390203D23B658DEE487B10D05B5307197F1A85FC56A6B16AA3340868D58E80810CCE9B8EEC984D0657E61239CAAAAE529428D3196296E44523A3F8507D261933267C7896E36796C53F6170D1DF7189F3491C4CB2F88ADB86E9C9762365B096EA123D8859B1E08B34CD873803A736FA72C49234B6BE1C7BA8481574DDD25190E9A674875DDFD2B445EDC9468B8E7E8D5B8ECBD3DE9A6967B4DFB6FBA8C604EDED1E04BCBB590183CE68DAC77AF756492A3BD5B60A44B65CF2E8A1B5A4E5B8790D0706DEA276385644DC9F4EC79C17ECFBA274046815BC995C472AB16AE9D9CD09ACC0C0123A13AB777DF5FAEAFDEA5544EA5693755B15B97DF3EEFAF98BD5CDD53A6A0C566ED15DB68AEE7A65C93D789F66C97CF4FEC0401BAF1A250746A3E0234FEB97EB72C81AF59DF6D0D0041E7DAC7D943C60F5070E3B8FD6FFE5F57EF19A01BAD23467041D18044716840E6D7B78843C5E75E8BA27388F871D888F9F18346A132CB978F2ACCC0C5ABF7B00215F2E72CEA0C77D6C4907629631E8AC3D8B072D8DDE51D4FDE3726702D2C8C67F61F12904A536B7FF1608838F0CB6E84A94929C03E16D2006E3AC0CDAAB76E0E627FA2DED4887271AFCF01D', 1613, X'4A193E4B62367470C94EC12706D1F5541A9FBEED0DED3F8821E751D7A91EB8B7', 1780833600000, 1780833632000, NULL),
(16, 'whe_e4b74bea10b513b0', NULL, 'evt_7c15448a4c7b541ea0861752', 30, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780833818000, X'D593DB6ED34010865F05CDF5265AC7A764EF2252092484504B850442D678334E16EC5DB387B4A1CABBA3B5539A9688C21DF8C2DEC3AC67FF7FBEB903BFEF0904B8503B6955EF95D1534B9A6E680D0CBCEAC879EC7A1030E3B362C28B092FDF2733C153C1CB29E7FC233070F40D44CA19ACD12388BB8705B50601B4F35529933CCBE698C9B2CEB38490CF8BA4CC67C0C0D80D6AF51D63EE6A3860ECA66A4A992775DE147599172516C000FB7EDC8F83264D9B5953A7798D594E050203D23B658DEE487B10D05BB30E32FE340AF9AD4C63D5466910D0AA1D0103199C371DD9319B0CAE2A247294F5BA4E51A24C13C46C56948D8CE243FD8564CC38E3C3B3183F491EFF84C1457FC725CE277130C9E22B860DD393702365B096D6157A104939E7F3342DE725E79C81531B7D7EC79234767D7EEFBE2275D0EB968E824C37A55BECFA96A62D6A4F365A74F46B0C392E4F7B6BA69DD17EDBEEA31A13B4B77B10707DB504069DD1B48FF5EEAD925475AA6D15886CB1E0D1436B49CB3178050706DEA276385644DC9D4EC79C67ECFBAA74046819BC995C462AB16EE9C5D509ACC0C0123A13AB7779F1F6E2C3F24D44EA4693755B15B97D777DF9F2D5F2EA621535062BB7E8CE5B45B7BDB2E4EEBD4FB3593E7A7F60A08D578D9203A351F091A7D5EB5535648DFA4E7B6868028F3ED63E4A1EB0FA03879D47EBFFF27ABF78CD005D659A27041D18044716840E6D7B78803C5E75E8BA67388F871D884F9F19346A132CB978F2499919B47E770F42B998679C418FFBD8920E445230E8AC7DB21FB4347A4751F7CFCB3D16304FE69CF3FFC2E253082A6D6EFE2910461F196CD15528253907C2DB400CC65915B457EDC0CD23FA2DED4887671AFCF003', 1613, X'7B1E41400FC057BB16A01D60AC33B405B5EA2050D2A68337CEAF6E98C1025CB3', 1780833787000, 1780833818000, NULL),
(17, 'whe_e4b74bea10b513b0', NULL, 'evt_623d1255777bf82d922b7276', 32, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780833818000, X'D5935D6FD3301486FF0A3AD76EE5246DD2FAAEA2934042086D4C48201439CE496B48ECE08F6E65EA7F4727E958372A0677908BC41FC7397EDFF39C3B08FB1E41808F95574EF7415B337568F0066B601074873EC8AE0701294FF309CF27BC789FA48267821753CEF94760E0F11B882C6550CB2041DC3D2CE81A04E02E94799AD5493A9F174551358BB45EA66955A4450E0CACDB48A3BF4BCA5D0E07ACDB944DA1E649356FF2AA98E785A440D9F7E33E0D9A2C6BD2A6CAE6959CCD3197C000CD4E3B6B3A340104F4CED651D14F49C86F655AA737DA808056EF1018A8E883EDD08DD954F465AE2497AAAAAB4C2AA9B244CA599A178D22F1B1FA828A32A67C7896E327A12B2B193DF93B2E713EA1C164462F0A1BA627E156A9E81CD6A50C209262C11759562C0ACE3903AF37E6FC8E43655D7D7EEFBE225534758B4741B69BE2ADECFA16A7AD34011D5974F46B0C392E4F7B67A79D3561DBEE498D8D26B83D08B8BE5A0183CE1ADC53BD7BA715969D6E5B0D62B65C72F2D039346A0C5EC3814170D278395644DC9D4EC79C67ECFBAA0D01B48AC14E2E894A59B5F8E2EA045660E0507A4BD5BBBC787BF161F58690BA31E8FC5613B7EFAE2F5FBE5A5D5DAC4963746A2BFD79ABF0B6D70EFDBDF7D92C9D8FDE1F18181B74A3D5C028093EF2B47EBD2E87ACA4EFB4878626083250ED49F280D51F38EC8374E12FAFF78BD70CA42F6DF384A00383E8D18130B16D0F0F90D35587AE7B86733AEC417CFACCA0D19BE8D0D3C9276566D086DD3D08C57231E30C7AB9A796F420929C41E7DC93FD6894353B24DD3F2FF758C0225970CEFF0B8B4F21288DBDF9A740187D64B095BE944AA1F720828BC8609C95D104DD0EDC3CA2DFE10E4D7CA6C10F3F00', 1613, X'D08A7325ADF82084ECB1D332E2F10EE5062D177630D9F7B9C259144C1658B472', 1780833787000, 1780833818000, NULL),
(2, 'whe_e4b74bea10b513b0', NULL, 'evt_a169b5217e7e6eb3888dcf61', 3, NULL, 'customer.merged', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780315201000, X'8552C96EDB3010FD97393306255994CC73FFA0EDA545210CA991C24222552E6EDCC0FF5E50F2D2A00EC20B97E12C6F7985785A0824E814A29BC9EF66F223F5C0209A9942C4790109252FC513174FBCF852949273C9F98E73FE0D1804FA05B262D0634490AFB7BBE941021D63878538A8BA2C1A6A4890AADAB6EDF5200A60E0FC88D6FCC1689CEDD604E7C76E68745DA87A10AAA945830218E0B26CF17C18AA6A280755D50AF735090406648FC63B3B938D2061F1AE4F3A17CD30DEC3E7BC198D0509933912B01B035B239D42273472D4AA57156AD45581B82F4533E88C3AA99FA473B392AFEBB06DBCCC9530850BA7DDB06F1A85AA473554350A6AEBAAC1B217F283064EEBE43DF51D469045D3F2AAA8B7560C8219ED2562D33431F0A49DEF1F7FBEEAA292ED27BA8073F38E5E705E26DA4D6823F9CCD4A67C7775C29D87F730008314C883CC539CEF0C661BAC6A7E8031270790DF7F3018CC983C859CB9E2B6FA0412BE7EFE040CA678EC66334D06E4E1D072060B9EB2D20164C960F6FE6D3459EDEC917CA4FE361986CE0DFFF05870CECFAB8A417BB3AC565951BC7DEBACFBBD7A3A62CC82A28E9B572E0EDB28BA30B85BBCDBCDCEC6E7E9941D12318FF0483F7A598CA7700D9507DE5CA5FD0FFCA3C9193C63E8506B0A0164F489186CB72ED968A615E8BDEA391BE44836D195289EB5F29E569657F1CE7F01', 1033, X'9EA5695E5B9C17952576204DB18B68F7AD96EF6F8152C6AC2DB6AACC3F87DF8A', 1780315200000, 1780315201000, NULL),
(3, 'whe_e4b74bea10b513b0', NULL, 'evt_d00f8906c82fbe2cee3e8e9e', 4, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780315201000, X'D5935D6FD3301486FF0A3AD76EE5246DDAF8AEA2934042086D4C48201439CE496B48ECE08F6E65EA7F4727E946372A0677908BC48E3FCE79DFF39C3B08FB1E41808F95574EF7415B337568F0066B601074873EC8AE0701294FF309CF273C799FA48273C1F99473FE111878FC0662C6A0964182B87B98EB1A04E02E9435E7CDB2E0B95AA64D85A942CC7089050203EB36D2E8EF922297C301EB3665B350F3A49A3779B598E70B990303D9F7E33A0D9A2C6BD2A6CAE6959CCD3197C000CD4E3B6B3A340104F4CED651D1A524E3B722ADD31B6D4040AB7794918A3ED80EDD184D455FE64A72A9AABACAA4922A4BA49CA5F9A251243D565F5051C4940F4F317E784A37C9E8C9DDE32F3EA1C164462FDA364C4FB65BA5A2735897328048164B9E25F3F156065E6FCCF91587CABAFAFCDA7D41AA68EA168F826C37C55BD9F52D4E5B69023AB2E8E8D7B8E5F87BDA3B3BEDAC09DB764F6A6C34C1ED41C0F5D50A1874D6E09ECADD3BADB0EC74DB6A10B3A2E0E4A17368D4B8790D0706C149E3E5581171773A1D639EB1EFAB3604D02A063BB9242665D5E28BAB1354818143E92D55EFF2E2EDC587D51B42EAC6A0F35B4DD4BEBBBE7CF96A7575B1268DD1A9ADF4E7ADC2DB5E3BF4F7DEA7055F8C291D18181B74A3D5C028093EF2B47EBD2E87A8A4EFB483861E083250ED49F280D51F38EC8374E12FD3FBC56B06D297B67942D08141F4E84098D8B6879F9053AA43D73DC3391DF6203E7D66D0E84D74E8E9E493323368C3EE1E84A2587206BDDC53477A102983CEB9C7ABD1286B7648A21F327B9A7DC239FF2FFC3D25A034F6E61FA3807C64B095BE944AA1F720828BC8609C95D104DD0ED03C42DFE10E4D7CA6BB0F3F00', 1608, X'461F96D5E4411B10D0FB4D792A57290B41081CA4643BC227B57DAE428120078C', 1780315200000, 1780315201000, NULL),
(4, 'whe_e4b74bea10b513b0', NULL, 'evt_dae239dc4bc8fb38a617008a', 6, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780401632000, X'D5936F6FD33010C6BF0ABAD76EE5266DDAFADDC426818410DA404820145D9C4B6B48ECE03FDDCAD4EF8E2EE946191383779017899DB37D7E9EFBDD2DC47D4FA020A42A686FFA689C9D7AB2744D350888A6A310B1EB414126B362228B89CCDECE3225A592722AA5FC0002027D055508A83122A8DBFBB9A94101ED62592365F9BAD6F34AAF9A2A5F61315B4AB94210E0FC06ADF9869CB91C3638BF299BA55ECCAA455354CB45B1C4020460DF8F711E3479DE644D952F2A9C2FA8E083C8EE8C77B6231B4141EF5D9D341FCA327E2BD279B3311614B466472040A7105D477ECCA653280B8D12755557396AD4F90C719E15CB46B3F4547D26CD1933393CEBF123733E095360778FBFE484079339BF78D9303D59EEB44EDE535D6204355BAEE45CCE8A212E20988D7D3CE2493B5F3F1EBB2B48956CDDD25190EBA674835DDFD2B4451BC9B34547BFC625C7DFD3DEBB69E76CDCB67B56E3928D7E0F0ADE5D9D8180CE59DA73B97B6F34959D695B036ABE5E4BF6D07BB27A5C7C0E0701D1A30D385644DD9E4EC79C8FD8F7C55806E82C4537B96426B16AE9D9D509AA20C01306C7D5BBBC787DF1FEEC1523756DC987AD616ADFBCBB7CFEE2ECEAE29C3526AFB7181EB78A6E7AE329DC799FADD7F9E8FD418075D134460F8CB2E0234FE72FCFCB212BEB3BEDA0A1072246AE3D4B1EB0FA038743441FFFF27ABF782D0043E99A07041D04A4401E944D6D7BF801395F75E8BA2738E7CD01D4C74F021AB3499E02EF7C5066016DDCDD81305BAF0B29A0C73DB764003517D079FF209CAC7676472CFBFE6E0FEE9F331AFF85C3A70C94D65DFF5B1C0C3E0AD86228516B0A0154F489048CB332D968DA019B9FE0F7B4239B9EE8EFC377', 1610, X'428A2A9D67DEDFA2928158F8AA82ABC9268046CE9896A9C90FCFEEE364116060', 1780401600000, 1780401632000, NULL),
(5, 'whe_e4b74bea10b513b0', NULL, 'evt_cfd7803dbfaa36e01954c944', 8, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780401632000, X'D5936F6FD33010C6BF0ABAD76EE52669BAF85D4527818410DA9890985074712EAD21B183FF742B53BF3B72D28D522A06EF202F12DB67E7FC3CF7BB07F0BB9E40800B959356F55E193DB5A4E98E6A60E05547CE63D783808427F984E7139EBC9F258273C1F99473FE111838FA0AE282418D1E413C3CCD550D0268EB4BD9D48B0B9ED6558398E6C467C53C934596010363D7A8D5378C99CBE180B1EBB259C8F9AC9A3779B598E70BCC8101F6FD188F83264D9BA4A9D27985D99C720406A4B7CA1ADD91F620A0B7A60E32FE34CAF8AD4863D55A6910D0AA2D0103199C371DD9319B0CAECC257294555DA52851A633C42CC9178D8CD243F59964CC98F0E129C60F8FDA240617DD3D2CF1491C4CB2F88ADB86E9D1762365B096EA123D88D9E282677C960F71064EADF5F98825696C7D3EF658902AE8BAA58320D34DE91EBBBEA5698BDA938D161DFC1AB71C96A7BD35D3CE68BF6977518D09DADB1D08B8B95E0283CE68DAC572F756492A3BD5B60A4456143C7A682D69396E5EC19E81B7A81D8E15110FC7D331E719FBBE281D015A066F26579149AC5A7A717D842A30B084CEC4EA5D5DBEBDFCB07C1391BAD364DD46456ADFDD5CBD7CB5BCBE5C458DC1CA0DBAF356D17DAF2CB947EF93A24847EFF70CB4F1AA517260340A3EF0B47ABD2A87AC51DF71070D3DE0D1C7DA47C903567FE0B0F368FD5F5EEF17AF19A02B4D7342D09E41706441E8D0B6FB1F90C7AB0E5DF70CE7F1B00371FB8941A3D6C1928B274FCACCA0F5DB471066459173063DEE624B3A101983CEDA9370D0D2E82D45D94F773BB97F1AD1F82F1C3E66A0D4E6EEDFE260F091C1065D8952927320BC0DC4609C95417BD50ED8FC04BFA52DE9F04C7FEFBF03', 1610, X'7CF5127ACAD85B28CA6D11E0A3CF347D03A71D23569A9A352DC9EA6B1EBDCB73', 1780401600000, 1780401632000, NULL),
(6, 'whe_e4b74bea10b513b0', NULL, 'evt_eebd52034d3fbaf0b0ab4dca', 10, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780488032000, X'D5936F6FD33010C6BF0ABAD76EE5366DBAFA5D4527818410DA404820145D9C4B6748ECE03FDDCAD4EF8E2EE95829158377901749ECB37D7E9EFBDD3DC45D47A020A432686FBA689C1D7BB2744B150888A6A510B1ED40C1544EF391CC47327B3B992A2995946329E5071010E82BA8891450614450F78F13A60205B48D055159CDA7329B55595D622D4B89E5ACD208029CDFA035DF907317FD06E73745BDD0F34939AFF37231CF17988300ECBA21CE3F7596D5D3BACCE625CEE694F34164B7C63BDB928DA0A0F3AE4A9A0F6521BF95E9BCD9180B0A1AB32510A05388AE253F64D32914B94689BAACCA0C35EA6C82389BE68B5AB3F8547E26CD19A7B27F96C347CEF9244C81FD3D4CC911FF8C66FCE265FDF068B9D33A794F558111D4647121671717435840301B7B3EE2493B5F9D8F3D54A44CB66AE820C8B563BAC3B66B68DCA08DE4D9A2835FC392C3F4B8F36EDC3A1B6F9A1DAB71C946BF0305EFAE5720A07596765CEFCE1B4D456B9AC6809A2D97923DF49EAC1E16AF612F207AB401878AA8FBE3E190F38C7D5F8C65805629BAD11553896543CFAE8F6005019E3038AEDED5E5EBCBF7AB578CD4AD251F6E0C73FBE6DDD5F317ABEBCB356B4C5EDF60386F15DD75C65378F03E9307EBE55E8075D1D446F78CB2E0034FEB97EBA2CFCAFA8E7BA86F8288916BCF927BACFEC0E110D1C7BFBCDE2F5E0BC050B8FA84A0BD8014C883B2A969F68F90F355FBAE7B8273DE1C407DFC24A0369BE429F0CE93320B68E2F60184E9723993023ADC714B0650B980D6FB9370B2DAD92DB1EC1F773BB97FC668FC170E1F33505877FB6F71D0FB28E00643815A5308A0A24F24601815C946D3F4D8FC04BFA72DD9F4447FEFBF03', 1612, X'4D98911A4AC94D3126FE54E65D5E88633EED8C918CBCDF400F49D712309B5F10', 1780488000000, 1780488032000, NULL),
(7, 'whe_e4b74bea10b513b0', NULL, 'evt_7a3e989fdfaa9c01d2698133', 12, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780488032000, X'D593DD8ED33010855F05CDB55B39499B36BEABE84A20218476414820144D9C496B48ECE09FEE9655DF1D39E9B2A5542CDC412E9AD86377E69CF9E61EFCBE2710E042E5A455BD57464F2D69BAA51A1878D591F3D8F52020E5693EE1F984676F9354702E389F72CE3F0003475F412429831A3D82B87FDC503508A09D2F179851B12C9ABA412C244FEA342F96499601036337A8D5378CB9CBE182B19BB259C87952CD9BBC5ACCF305E6C000FB7E8CC78F26CB9AB4A9B27985B339E5080C48EF9435BA23ED41406F4D1D64FCD328E4B7328D551BA54140AB76040C6470DE7464C76C32B83297C851567595A144992588B3345F34328A0FD567923163CA87A7185F3C962C31B8E8EF718B4FE2C764167FE2B1617972DC4819ACA5BA440F22592CF96CB91CC30C9CDAE8CB114BD2D8FA72ECA12355D0754B4741A69BD21D767D4BD316B5271B2D3AFA351E396E4F7B6BA69DD17EDBEEA31A13B4B77B10F0EE66050C3AA3691FFBDD5B25A9EC54DB2A10B3A2E0D1436B49CBF1F01A0E0CBC45ED70EC88B83F5D8E392FD8F745E908D02A7833B98E5462D5D2B39B1358818125742676EFFAEAF5D5FBD5AB88D4AD26EBB62A72FBE6DDF5F317AB9BAB75D418ACDCA2BB6C15DDF5CA927BF03EE347EBF98181365E354A0E8C46C1479ED62FD7E59035EA3B9DA161083CFAD8FB2879C0EA0F1C761EADFFCBF27EF19A01BAD23467041D18044716840E6D7B78843C963A4CDD139CC7CB0EC4C74F0C1AB509965CBC79D66606ADDF3D809016C58C33E8711F47D281C81974D69E85839646EF28CAFE51DB59FD5944E3BF70F89481529BDB7F8B83C147065B74254A49CE81F0361083715506ED553B60F313FC9676A4C313F37DF80E', 1612, X'D4545C47A04E30C0D68F602D8A00BDACA35CFCAB41FB8583EC8B08FB6C9F5368', 1780488000000, 1780488032000, NULL),
(8, 'whe_e4b74bea10b513b0', NULL, 'evt_1f00618ff24a1e41489c4167', 14, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780574432000, X'D593DB8ED33010865F05CDB55B3987A6ADEF2ABA124808A15D101208458E33690D891D7CE86E59F5DDD1245DB6948A853BC845E2C338E3FF9F6FEE21EC7B04013E565E39DD076DCDD4A1C15BAC8141D01DFA20BB1E04A43C2D26BC98F0FC6D920ACE05E753CEF90760E0F12B88246750CB2041DC3F2EE81A04E02E9449C379912C9A26CD658279922F962A4F8A3930B06E238DFE262977391CB06E533673354BAA595354F35931970530907D3FEED3A0C9B2266DAA6C56C97C868504066876DA59D3A10920A077B68E8A7E4A427E2BD33ABDD10604B47A87C040451F6C876ECCA6A22F0B25B954555D655249952552E669316F14898FD567549431E5C3B31C3F9CB429193DF97B5CE2131A4C727A51D8303D09B74A45E7B02E650091CC177C36CF299873065E6FCCE51D87CABAFAF2DE4345AA68EA168F826C37C53BD9F52D4E5B69023AB2E8E8D718725C9EF6CE4E3B6BC2B6DD931A1B4D707B10F0EE66050C3A6B704FF5EE9D565876BA6D35887CB9E4E4A17368D418BC860383E0A4F172AC88B83F9D8E392FD8F7451B026815839D5C1395B26AF1D9CD09ACC0C0A1F496AA777DF5FAEAFDEA1521756BD0F9AD266EDFBCBB7EFE627573B5268DD1A9ADF497ADC2BB5E3BF40FDE6749518CDE1F18181B74A3D5C028093EF2B47EB92E87ACA4EFB4878626083250ED49F280D51F38EC8374E12FAFF78BD70CA42F6D7346D08141F4E84098D8B68747C8E9AA43D73DC1391DF6203E7E62D0E84D74E8E9E4599919B461F70042B65CA69C412FF7D4921EC48241E7DCD97634CA9A1D92EC1F773BBB7F4668FC170E9F32501A7BFB6F7130F8C8602B7D299542EF41041791C1382BA309BA1DB0F9097E873B34F189FE3E7C07', 1612, X'2480BB76664C8BE31E7B5A13932EF68356FCA26DCD7D284EE0A610D3E6EE91BB', 1780574400000, 1780574432000, NULL),
(9, 'whe_e4b74bea10b513b0', NULL, 'evt_abee16a693479a5e2c3d214b', 16, NULL, 'subscription.renewed', 'app_f33f2fb35ba45e6a', 'production', NULL, 0, 0, 'waiting', NULL, 0, 0, 1780574432000, X'D593DB6ED34010865F05CDF526DAD889D3EC5D452A8184106A414820648DD7E374C1DE357B481BAABC3B1A3BA5A14414EEC017F61E663DFBFFF3CD1DC45D4FA020A42A686FFA689C9D7AB27443350888A6A310B1EB414126B362228B899CBF9D654A4A25E5544AF9010404FA0A6A5608A83122A8BB8705538302DAC6122BA25981C52A9F2F57B8A04CE775369B5720C0F90D5AF30D3977391C707E53364BBD98558BA6A8968B62890508C0BE1FF779D0E479933555BEA870BEA0024100D9ADF1CE76642328E8BDAB93E69FB290DFCA74DE6C8C0505ADD91208D02944D7911FB3E914CA42A3445DD5558E1A753E439C67C5B2D12C3E559F4973C64C0ECF6AFCC833FE13A6C0FE1E96E484079339BF386C981E853BAD93F754971841CD966772B19C73B0940282D9D8D33B9EB4F3F5E9BDFB8A54C9D62D1D04B96E4AB7D8F52D4D5BB4913C5B74F06B0C392C4F7BEFA69DB3F1BADDB11A976CF43B50F0EEEA1C0474CED28EEBDD7BA3A9EC4CDB1A50F3D54AB287DE93D563F01AF602A2471B70AC88BA3B9E8E394FD8F7C55806E83C4537B9642AB16AE9D9D511AC20C01306C7D5BBBC787DF1FEFC15237563C9876BC3DCBE7977F9FCC5F9D5C59A3526AFAF319CB68A6E7BE329DC7B9FCF8A62F47E2FC0BA681AA3074659F081A7F5CB753964657DC73D343441C4C8B567C903567FE07088E8E35F5EEF17AF0560285DF388A0BD8014C883B2A96DF70F90F35587AE7B82733E1C407DFC24A0319BE429F0C9476516D0C6ED3D08F96A9549013DEEB82503A833019DF78FB693D5CE6E8965FFB8DBA3FBE78CC67FE1F03103A57537FF1607838F02AE3194A83585002AFA4402C659996C34ED80CD4FF07BDA924D4FF4F7FE3B', 1612, X'9E71B8F85BB737B93EF576E3978CFE116B765DACC5F1E42928FE343A16A3F6EA', 1780574400000, 1780574432000, NULL);
insert into delivery_attempts ("delivery_id", "number", "endpoint_id", "at", "ms", "kind", "status", "words", "address", "excerpt", "clock_ms", "is_probe") values
(1, 1, 'whe_e4b74bea10b513b0', 1780315200000, 58, 'rejected', 500, 'The receiver answered 500. The receiver failed: look at its log.', '127.0.0.1', NULL, 15444423000, 0);
insert into alert_channels ("id", "organization_id", "name", "kind", "settings", "sealed", "hides_amounts", "digests", "source", "state", "reason", "state_since", "next_at", "last_sent_at", "last_failed_at", "created_at", "deleted_at") values
('alc_3de4fb0819e99f0d', 'org_f7c51b5f6b7567a6', 'phone', 'json', '{"url":"http://127.0.0.1:43325/hooks/phone"}', NULL, 0, '[]', 'dashboard', 'active', NULL, 1780315200000, NULL, 1780833600000, NULL, 1780315200000, NULL),
('alc_e60dbdd432566ff8', 'org_f7c51b5f6b7567a6', 'chat', 'telegram', '{"server":"http://127.0.0.1:42985","chat_id":"7"}', 'v1.cac22f0cf3b449e2.n3if6-nuvgl3ajK2rl8oAQXRMgokc5t-ri1e-BhZAGz7i8DgvPHBVPu4PPzLG9nLg7DLGwCH3_JeH5DihhLShtlUGg1VNaEtItH6', 0, '[]', 'dashboard', 'active', NULL, 1780315200000, NULL, NULL, 1780833600000, 1780315200000, NULL);
insert into alert_rules ("id", "organization_id", "name", "template", "settings", "channels", "is_on", "source", "cursor", "created_at", "deleted_at") values
('alr_51f9fea7f57bdccd', 'org_f7c51b5f6b7567a6', 'Trials', 'trial', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":10}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_52c959a66a39ad0d', 'org_f7c51b5f6b7567a6', 'Record day', 'record_day', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":20}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_5aeb79b8a8b4baef', 'org_f7c51b5f6b7567a6', 'Something needs me', 'trouble', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":null}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_780deb8480c607a1', 'org_f7c51b5f6b7567a6', 'sale n_2a98d030b0528a60', 'sale', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":null}', NULL, 1, 'dashboard', 33, 1780315200000, NULL),
('alr_7d3a567c961637da', 'org_f7c51b5f6b7567a6', 'First sale in a country', 'first_in_country', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":20}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_80e8da789b241cc4', 'org_f7c51b5f6b7567a6', 'Refunds', 'refund', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":20}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_ab1ccf4e3fbfc981', 'org_f7c51b5f6b7567a6', 'MRR milestone', 'milestone', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":20}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_ac9e990bdd904d7c', 'org_f7c51b5f6b7567a6', 'Every sale', 'sale', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":10}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000),
('alr_aee3ca1d1eb3a838', 'org_f7c51b5f6b7567a6', 'Refund spike', 'refund_spike', '{"types":null,"apps":null,"countries":null,"products":null,"environment":"production","minimum_milli":null,"hours":12,"level":"warning","quiet":"organization","pierces_quiet":true,"per_hour":20}', NULL, 1, 'dashboard', 0, 1780315200000, 1780315200000);
insert into alert_messages ("id", "organization_id", "rule_id", "kind", "key", "content", "happened_at", "created_at") values
('alm_04c5b63df9cb4ae1', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000015', '{"subject":{"about":"event","template":"sale","event_id":"evt_72b018f073fa75bf1f275cf6","is_recovered":false}}', 1780833787000, 1780833787000),
('alm_17ba8ec7c87bf4d3', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000007', '{"subject":{"about":"event","template":"sale","event_id":"evt_fd246bee6824710db77ca49e","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $39.92","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$39.92"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780574400000, 1780574400000),
('alm_1da4f7689a739fa0', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_3de4fb0819e99f0d/late/1780660800000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal","fields":[]},"hidden":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal","fields":[]},"path":"/events","urgency":"normal"}}', 1780660800000, 1780660800000),
('alm_29a53d3651991f2b', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000006', '{"subject":{"about":"event","template":"sale","event_id":"evt_5efc8a7f3c995be4ee1ef9da","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $29.94","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$29.94"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780488000000, 1780488001000),
('alm_2b0e8597a8d9fd51', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_3de4fb0819e99f0d/late/1780574400000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal","fields":[]},"hidden":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal","fields":[]},"path":"/events","urgency":"normal"}}', 1780574400000, 1780574400000),
('alm_3c2dbbdf672ef1cd', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000005', '{"subject":{"about":"event","template":"sale","event_id":"evt_ddfb7cd1086dac5741e65c43","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $29.94","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$29.94"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780488000000, 1780488000000),
('alm_47a9ced27c8f12e7', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000011', '{"subject":{"about":"event","template":"sale","event_id":"evt_4dbcec23a3c766c5f7333a51","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $59.88","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$59.88"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780747200000, 1780747200000),
('alm_55877f8c9aef018f', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_3de4fb0819e99f0d/late/1780833600000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal","fields":[]},"hidden":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal","fields":[]},"path":"/events","urgency":"normal"}}', 1780833600000, 1780833600000),
('alm_5b9a8ad180030a62', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000002', '{"subject":{"about":"event","template":"sale","event_id":"evt_f815d1dc29f7973724f54f96","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $19.96","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$19.96"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780315200000, 1780315201000),
('alm_67666370cc62763c', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000003', '{"subject":{"about":"event","template":"sale","event_id":"evt_6ef65a119cb915e35e83754c","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $19.96","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$19.96"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780401600000, 1780401600000),
('alm_6c995dc57ae99de1', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_e60dbdd432566ff8/late/1780401600000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 12 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal\nand 4 more","fields":[]},"hidden":{"title":"📬 12 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal\n🔁 Renewal\n🔁 Renewal\n🔁 Renewal\n🔁 Renewal\n🔁 Renewal\n🔁 Renewal\nand 4 more","fields":[]},"path":"/events","urgency":"normal"}}', 1780401600000, 1780401600000),
('alm_8123894f0843ca11', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000001', '{"subject":{"about":"event","template":"sale","event_id":"evt_3cebfe69d842b2bfe0ba20c0","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $19.96","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$19.96"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_f477babdabf35a6e8537a2d6","urgency":"normal"}}', 1780315200000, 1780315200000),
('alm_83869061dc92782d', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000012', '{"subject":{"about":"event","template":"sale","event_id":"evt_f6e110079dbc38d56b0e3e02","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $59.88","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$59.88"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780747200000, 1780747201000),
('alm_86c4464a04679bae', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_3de4fb0819e99f0d/late/1780747200000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal","fields":[]},"hidden":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal","fields":[]},"path":"/events","urgency":"normal"}}', 1780747200000, 1780747200000),
('alm_8e0b50ba0353796b', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000013', '{"subject":{"about":"event","template":"sale","event_id":"evt_5bf0b2291db94d9686e4ca36","is_recovered":false}}', 1780833600000, 1780833600000),
('alm_a23da46696fa4057', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000008', '{"subject":{"about":"event","template":"sale","event_id":"evt_26dd6a37666bfb9dce61cefc","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $39.92","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$39.92"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780574400000, 1780574401000),
('alm_a282aa76f460d069', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000004', '{"subject":{"about":"event","template":"sale","event_id":"evt_4433b2d249801e61fc713350","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $19.96","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$19.96"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780401600000, 1780401601000),
('alm_b444b91101ce5c20', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_3de4fb0819e99f0d/late/1780401600000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal","fields":[]},"hidden":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal","fields":[]},"path":"/events","urgency":"normal"}}', 1780401600000, 1780401600000),
('alm_b94172ef16370cd8', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000010', '{"subject":{"about":"event","template":"sale","event_id":"evt_e1eeb284126216b4e932c284","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $49.90","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$49.90"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780660800000, 1780660801000),
('alm_b980af119fd6b271', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000014', '{"subject":{"about":"event","template":"sale","event_id":"evt_6d4122b6f652711d04a01bd3","is_recovered":false}}', 1780833600000, 1780833601000),
('alm_b9e8c75f82a6013f', 'org_f7c51b5f6b7567a6', NULL, 'summary', 'summary/alc_3de4fb0819e99f0d/late/1780488000000', '{"subject":{"about":"summary","reason":"late"},"text":{"shown":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 $4.99 · Renewal\n🔁 $4.99 · Renewal","fields":[]},"hidden":{"title":"📬 2 messages","body":"While messages could not be sent\n🔁 Renewal\n🔁 Renewal","fields":[]},"path":"/events","urgency":"normal"}}', 1780488000000, 1780488000000),
('alm_c60447ca4ee9f197', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000016', '{"subject":{"about":"event","template":"sale","event_id":"evt_aed6b001e967ab32d1547853","is_recovered":false}}', 1780833787000, 1780833818000),
('alm_e4dedc639f59db6f', 'org_f7c51b5f6b7567a6', 'alr_780deb8480c607a1', 'sale', 'alr_780deb8480c607a1/app_f33f2fb35ba45e6a/production/2000000900000009', '{"subject":{"about":"event","template":"sale","event_id":"evt_d15362c90deeb89b42582c58","is_recovered":false},"text":{"shown":{"title":"🔁 $4.99 · Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment · lifetime $49.90","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"},{"label":"Amount","value":"$4.99"},{"label":"Lifetime value","value":"$49.90"}]},"hidden":{"title":"🔁 Renewal","body":"Lantern Pro Monthly · com.example.lantern\n🇺🇸 United States\nfirst payment","fields":[{"label":"Product","value":"Lantern Pro Monthly"},{"label":"App","value":"com.example.lantern"},{"label":"Country","value":"United States"},{"label":"Payment","value":"1"}]},"path":"/customers/cus_6ca0acbdb3acac31aa4267fc","urgency":"normal"}}', 1780660800000, 1780660800000);
insert into alert_sends ("message_id", "channel_id", "state", "due_at", "attempts", "words", "summary_id", "finished_at") values
('alm_04c5b63df9cb4ae1', 'alc_3de4fb0819e99f0d', 'waiting', 1780833789000, 0, NULL, NULL, NULL),
('alm_04c5b63df9cb4ae1', 'alc_e60dbdd432566ff8', 'waiting', 1780833789000, 0, NULL, NULL, NULL),
('alm_17ba8ec7c87bf4d3', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_1da4f7689a739fa0', 1780660800000),
('alm_17ba8ec7c87bf4d3', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780660800000),
('alm_1da4f7689a739fa0', 'alc_3de4fb0819e99f0d', 'sent', NULL, 1, NULL, NULL, 1780660800000),
('alm_29a53d3651991f2b', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_2b0e8597a8d9fd51', 1780574400000),
('alm_29a53d3651991f2b', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780574400000),
('alm_2b0e8597a8d9fd51', 'alc_3de4fb0819e99f0d', 'sent', NULL, 1, NULL, NULL, 1780574400000),
('alm_3c2dbbdf672ef1cd', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_2b0e8597a8d9fd51', 1780574400000),
('alm_3c2dbbdf672ef1cd', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780574400000),
('alm_47a9ced27c8f12e7', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_55877f8c9aef018f', 1780833600000),
('alm_47a9ced27c8f12e7', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780833600000),
('alm_55877f8c9aef018f', 'alc_3de4fb0819e99f0d', 'sent', NULL, 1, NULL, NULL, 1780833600000),
('alm_5b9a8ad180030a62', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_b444b91101ce5c20', 1780401600000),
('alm_5b9a8ad180030a62', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780401600000),
('alm_67666370cc62763c', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_b9e8c75f82a6013f', 1780488000000),
('alm_67666370cc62763c', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780488000000),
('alm_6c995dc57ae99de1', 'alc_e60dbdd432566ff8', 'waiting', 1780833760000, 6, 'Telegram answered 500.', NULL, NULL),
('alm_8123894f0843ca11', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_b444b91101ce5c20', 1780401600000),
('alm_8123894f0843ca11', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780401600000),
('alm_83869061dc92782d', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_55877f8c9aef018f', 1780833600000),
('alm_83869061dc92782d', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780833600000),
('alm_86c4464a04679bae', 'alc_3de4fb0819e99f0d', 'sent', NULL, 1, NULL, NULL, 1780747200000),
('alm_8e0b50ba0353796b', 'alc_3de4fb0819e99f0d', 'waiting', 1780833602000, 0, NULL, NULL, NULL),
('alm_8e0b50ba0353796b', 'alc_e60dbdd432566ff8', 'waiting', 1780833602000, 0, NULL, NULL, NULL),
('alm_a23da46696fa4057', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_1da4f7689a739fa0', 1780660800000),
('alm_a23da46696fa4057', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780660800000),
('alm_a282aa76f460d069', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_b9e8c75f82a6013f', 1780488000000),
('alm_a282aa76f460d069', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780488000000),
('alm_b444b91101ce5c20', 'alc_3de4fb0819e99f0d', 'sent', NULL, 1, NULL, NULL, 1780401601000),
('alm_b94172ef16370cd8', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_86c4464a04679bae', 1780747200000),
('alm_b94172ef16370cd8', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780747200000),
('alm_b980af119fd6b271', 'alc_3de4fb0819e99f0d', 'waiting', 1780833602000, 0, NULL, NULL, NULL),
('alm_b980af119fd6b271', 'alc_e60dbdd432566ff8', 'waiting', 1780833602000, 0, NULL, NULL, NULL),
('alm_b9e8c75f82a6013f', 'alc_3de4fb0819e99f0d', 'sent', NULL, 1, NULL, NULL, 1780488000000),
('alm_c60447ca4ee9f197', 'alc_3de4fb0819e99f0d', 'waiting', 1780833818000, 0, NULL, NULL, NULL),
('alm_c60447ca4ee9f197', 'alc_e60dbdd432566ff8', 'waiting', 1780833818000, 0, NULL, NULL, NULL),
('alm_e4dedc639f59db6f', 'alc_3de4fb0819e99f0d', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_86c4464a04679bae', 1780747200000),
('alm_e4dedc639f59db6f', 'alc_e60dbdd432566ff8', 'joined', NULL, 0, 'It could not be sent for 30 minutes.', 'alm_6c995dc57ae99de1', 1780747200000);
delete from sqlite_sequence;
insert into sqlite_sequence ("name", "seq") values
('deliveries', 17),
('events', 33),
('metric_generations', 1),
('row_changes', 63);
