-- Version 4: alerts. Kept equal to schema.sql by a test until it is released, then never changed.
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

pragma user_version = 4;
