-- Version 2: tables of forwarding. Kept equal to schema.sql by a test until it is released, then never changed.
create table endpoints (
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
create table endpoint_secrets (
  id                      text primary key,
  endpoint_id             text not null references endpoints (id),
  sealed                  text not null,
  created_at              integer not null,
  expires_at              integer
) strict;
create index endpoint_secrets_by_endpoint on endpoint_secrets (endpoint_id, created_at);
create table replays (
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
create table deliveries (
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
create table delivery_attempts (
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
create index notifications_by_payload on notifications (payload_id);
