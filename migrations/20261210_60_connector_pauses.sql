-- Rate limits of vendors: all processes wait with calls of the connector until the time that the vendor has said.
-- up
alter table integrations add column paused_until bigint;
-- down
alter table integrations drop column paused_until;
