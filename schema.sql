-- Every noun Windfall remembers, in sections named after the folder of src/ that writes it. Anyone later in
-- the order may read and join; writing is for the owner alone (test/tidy.test.ts reads these headings).
--
-- Conventions: every table strict; plural snake_case; *_at = milliseconds since the epoch; *_on = 'YYYY-MM-DD';
-- *_milli = integer thousandths of the `currency` beside it; a null *_at = not yet. No booleans of our own;
-- Apple's flags are kept as 0 or 1. Rows keep these names through the program to the JSON of the API.
-- Keys lead with organization or app, because production and sandbox, and any two organizations, never mix.

pragma application_id = 1464421956; -- 'WIND'
pragma user_version = 1;

-- store/ ------------------------------------------------------------------------------------------------

create table settings (
  key                     text primary key,
  value                   text not null
) strict, without rowid;

create table job_runs (
  job                     text primary key,
  started_at              integer not null,
  finished_at             integer,
  error                   text
) strict, without rowid;

-- events/ -----------------------------------------------------------------------------------------------

-- seq is the order of the feed and never used again; id is a hash of what the event is about, so that a
-- repeated fact finds its event already there; body is frozen when appended (compressed JSON, events/packing.ts).
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

-- apps/ -------------------------------------------------------------------------------------------------

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

-- A publishable key is readable again (it is in every copy of the owner's app anyway); a secret one is not.
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

-- ledger/ -----------------------------------------------------------------------------------------------

-- The first segment of a JWS, which holds its certificates: four kilobytes that thousands of payloads share.
create table certificate_chains (
  id                      integer primary key,
  sha256                  blob not null unique,
  header                  text not null,
  first_seen_at           integer not null
) strict;

-- Everything signed that arrived, whatever brought it. `body` restores it byte for byte (ledger/raw.ts).
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

-- Proved to be Apple's, for an app that is not connected. The organization is the one its address named, if any.
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

-- What failed verification, the last hundred, because our own clock or root may be what is wrong.
create table refused_notifications (
  id                      integer primary key,
  reason                  text not null,
  detail                  text not null,
  raw                     text not null,
  received_at             integer not null
) strict;

-- The newest signed version of each transaction. What is concluded from several versions never has to be taken back:
-- the earliest and the latest expiry that any named (an extension moves it), and when the earliest was signed that
-- says it is a trial, or a renewal that was paid for.
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

-- Every distinct signed renewal info: grace dates and expiration intents exist only while they apply, so the
-- newest alone would rewrite history.
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

-- Derived from the three tables above, one row a lineage; what it is at an instant is subscription.ts's to say.
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

-- One row a lineage, whose id resolves for ever; rows of one person share canonical_id.
create table customers (
  id                      text primary key,
  app_id                  text not null,
  environment             text not null,
  original_transaction_id text not null,
  original_purchased_at   integer,
  canonical_id            text not null
) strict, without rowid;
create index customers_by_canonical on customers (canonical_id);

-- Apple's id of one account in one app, seen beside a lineage: what joins lineages to one customer.
create table customer_bridges (
  app_id                  text not null,
  environment             text not null,
  app_transaction_id      text not null,
  customer_id             text not null references customers (id),
  primary key (app_id, environment, app_transaction_id, customer_id)
) strict, without rowid;

-- attribution/ ------------------------------------------------------------------------------------------

create table users (
  app_id                  text not null,
  app_user_id             text not null,
  platform                text,
  os_version              text,
  device_model            text,
  locale                  text,
  attributes              text not null,
  verification            text not null,
  unattested              text,
  created_at              integer not null,
  seen_at                 integer not null,
  unique (app_id, app_user_id)
) strict;

-- Two facts: what the last call said, and what the last proved call said, with the proofs it had. `credential` came
-- with the call that made it what it is.
create table links (
  id                      integer primary key,
  app_id                  text not null,
  store                   text not null,
  transaction_id          text not null,
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

-- Every change after the first call, whole on both sides, so that it can be undone.
create table link_history (
  id                      integer primary key,
  link_id                 integer not null references links (id),
  from_app_user_id        text not null,
  to_app_user_id          text not null,
  from_proved_app_user_id text,
  to_proved_app_user_id   text,
  from_proofs             text not null,
  to_proofs               text not null,
  from_credential         text not null,
  to_credential           text not null,
  moved_at                integer not null
) strict;
create index link_history_by_link on link_history (link_id);

-- metrics/ ----------------------------------------------------------------------------------------------
-- forwarding/ -------------------------------------------------------------------------------------------
-- alerts/ -----------------------------------------------------------------------------------------------
-- dashboard/ --------------------------------------------------------------------------------------------

-- Read-only. `apps` is a JSON list of app ids, null for all of the organization's apps, now and later.
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
