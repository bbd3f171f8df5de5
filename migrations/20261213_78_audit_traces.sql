-- Events of the audit log name the trace of their request, which shows what the request has done at every layer.
-- up
alter table audit_events add column trace_id text;
-- down
alter table audit_events drop column trace_id;
