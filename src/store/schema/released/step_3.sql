-- Version 3: imports of links, and samples of the disk. Kept equal to schema.sql by a test until it is released, then
-- never changed.
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

pragma user_version = 3;
