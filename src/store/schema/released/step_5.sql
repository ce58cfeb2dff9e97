-- Version 5. Kept equal to schema.sql by a test until it is released, then never changed.

create index deliveries_untried on deliveries (endpoint_id, next_at, id) where state = 'waiting' and attempts = 0;
