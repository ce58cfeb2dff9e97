-- Version 5. Kept equal to schema.sql by a test until it is released, then never changed.
create index deliveries_untried on deliveries (endpoint_id, next_at, id) where state = 'waiting' and attempts = 0;
alter table organizations add column time_zone_source text not null default 'none' check (time_zone_source in ('none', 'config', 'dashboard'));
-- Quiet hours were on without a time zone. Organizations with channels keep them.
insert into settings (key, value)
  select 'alerts/' || id, '{"quiet":{"from":"22:00","until":"08:00"}}' from organizations
  where exists (select 1 from alert_channels where organization_id = organizations.id)
    and not exists (select 1 from settings where key = 'alerts/' || organizations.id);
alter table endpoints add column max_per_second integer check (max_per_second between 1 and 1000);
alter table deliveries add column loss text check (loss in ('open', 'queued', 'dismissed'));
create index deliveries_lost on deliveries (endpoint_id, loss, finished_at) where loss is not null;
-- What earlier versions gave up is lost, too, unless it was sent again since.
update deliveries set loss = iif(exists (
    select 1 from deliveries as later
    where later.event_id = deliveries.event_id and later.endpoint_id = deliveries.endpoint_id and later.id > deliveries.id
      and later.state = 'waiting'), 'queued', 'open')
  where state = 'failed' and is_test = 0
    and (payload_id is not null) = (select kind = 'apple' from endpoints where endpoints.id = endpoint_id)
    and not exists (
      select 1 from deliveries as later
      where later.event_id = deliveries.event_id and later.endpoint_id = deliveries.endpoint_id and later.id > deliveries.id
        and later.state in ('delivered', 'failed'));
alter table endpoints add column default_set integer not null default 1;
create table unannounced_losses ( -- kept
  endpoint_id             text primary key references endpoints (id),
  count                   integer not null,
  first_event_id          text not null,
  last_event_id           text not null,
  reason                  text not null,
  since                   integer not null,
  last_at                 integer not null
) strict;
