-- A hook can be disabled, and a delivery shows the headers that it came with.
-- up
alter table inbound_hooks add column enabled boolean not null default true;
alter table inbound_deliveries add column headers jsonb;
-- down
alter table inbound_deliveries drop column headers;
alter table inbound_hooks drop column enabled;
