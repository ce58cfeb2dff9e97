-- Version 3: samples of the disk. Kept equal to schema.sql by a test until it is released, then never changed.
create table disk_samples (
  sampled_on              text primary key,
  sampled_at              integer not null,
  database_bytes          integer not null,
  free_bytes              integer not null
) strict, without rowid;
