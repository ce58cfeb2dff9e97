-- Version 3: imports of links, samples of the disk, ids of users, and the change log of exports. Kept equal to schema.sql
-- by a test until it is released, then never changed.
create table link_imports (
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

create table disk_samples (
  sampled_on              text primary key,
  sampled_at              integer not null,
  database_bytes          integer not null,
  free_bytes              integer not null
) strict, without rowid;

create table new_users (
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
  unique (app_id, app_user_id)
) strict;
insert into new_users (app_id, app_user_id, platform, os_version, device_model, locale, attributes, proved_attributes, verification, unattested, proved_at, created_at, seen_at)
  select app_id, app_user_id, platform, os_version, device_model, locale, attributes, proved_attributes, verification, unattested, proved_at, created_at, seen_at from users order by rowid;
drop table users;
alter table new_users rename to users;
create table row_changes (
  change                  integer primary key autoincrement,
  source                  text not null,
  app_id                  text not null,
  key                     text not null
) strict;
create table change_marks (
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

pragma user_version = 3;
