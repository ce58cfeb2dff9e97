-- Version 4: alerts, devices, annotations and the owner’s second factors. Kept equal to schema.sql by a test until it is released, then never changed.
create table alert_channels (
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

create table alert_rules (
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

create table alert_memory (
  organization_id         text not null references organizations (id),
  rule_id                 text not null,
  key                     text not null,
  value                   text not null,
  at                      integer not null,
  primary key (organization_id, rule_id, key)
) strict, without rowid;

create table alert_messages (
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

create table alert_sends (
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

create table alert_digests (
  channel_id              text not null references alert_channels (id),
  kind                    text not null check (kind in ('daily', 'weekly')),
  digested_on             text not null,
  message_id              text references alert_messages (id),
  figures                 text,
  made_at                 integer not null,
  primary key (channel_id, kind, digested_on)
) strict, without rowid;

create table widget_tokens (
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

create table devices (
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

create table used_challenges (
  hash                    blob primary key,
  attestation_hash        blob not null,
  used_at                 integer not null
) strict, without rowid;

create table device_users (
  device_id               text not null references devices (id),
  app_user_id             text not null,
  first_on                text not null,
  last_on                 text not null,
  primary key (device_id, app_user_id)
) strict, without rowid;
create index device_users_by_user on device_users (app_user_id);
create index device_users_by_day on device_users (last_on, device_id);

create table call_counts (
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

create table annotations (
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

create table annotation_reads (
  app_id                  text not null references apps (id),
  what                    text not null check (what in ('versions', 'prices')),
  read_at                 integer,
  refused                 text,
  primary key (app_id, what)
) strict, without rowid;

create table authenticator (
  id                      integer primary key check (id = 1),
  sealed                  text not null,
  last_step               integer not null,
  created_at              integer not null
) strict;

create table recovery_codes (
  hash                    blob primary key,
  used_at                 integer
) strict, without rowid;

create table passkeys (
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

alter table api_tokens add column can_annotate integer not null default 0;
alter table users add column server_attributes text not null default '[]';
update users set server_attributes = (select json_group_array(key) from json_each(proved_attributes))
  where proved_attributes <> '{}';

alter table share_links add column metrics text;
create index refunds_by_date on refunds (app_id, environment, revoked_at);
create index reversals_by_date on refund_reversals (app_id, environment, reversed_at);

pragma user_version = 4;
create table apple_keys (
  organization_id         text not null references organizations (id),
  kind                    text not null check (kind in ('connect', 'purchases')),
  key_id                  text not null,
  issuer_id               text,
  sealed                  text not null,
  vendor_numbers          text not null,
  stored_at               integer not null,
  primary key (organization_id, kind)
) strict, without rowid;
