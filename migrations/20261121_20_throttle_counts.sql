-- Counts of the throttles that hold over all processes. The key is a keyed digest: no address is stored.
-- up
create table throttle_counts (
  key bytea primary key check (length(key) = 32),
  points bigint not null check (points > 0),
  window_ends_at bigint not null
);
create index throttle_counts_end on throttle_counts (window_ends_at);
-- down
drop table throttle_counts;
