-- The inbox: a person hides what needs them until something new happens to it, and open pages hear of each change.
-- up
create table inbox_marks (
  user_id text collate "C" not null references people on delete cascade,
  org_id text collate "C" not null references organizations on delete cascade,
  -- Derived from what waits (`approval-run_…`): an item is not stored.
  item_id text collate "C" not null,
  -- When the item began, as the person saw it: the mark does not hide a later occasion of the same item.
  since bigint not null,
  -- The item comes back at this time; null for one that is done.
  until bigint,
  created_at bigint not null,
  primary key (user_id, org_id, item_id)
);
create index inbox_marks_organization on inbox_marks (org_id);
create index inbox_marks_age on inbox_marks (created_at);

-- The run that was started in place of this one.
alter table runs add column rerun_as text;

create function announce_inbox() returns trigger language plpgsql as $$ begin
  perform pg_notify('changes', 'inbox:' || new.org_id);
  return null;
end $$;
create function announce_inbox_of_sandbox() returns trigger language plpgsql as $$ begin
  perform pg_notify('changes', 'inbox:' || org_id) from sandboxes where id = new.sandbox_id;
  return null;
end $$;
create trigger runs_announce_inbox after insert on runs for each row execute function announce_inbox();
create trigger runs_announce_inbox_changed
  after update of status, awaits_approval, parked_at, pr_state, approved_sha, head_sha, rerun_as on runs for each row
  when (row (old.status, old.awaits_approval, old.parked_at, old.pr_state, old.approved_sha, old.head_sha, old.rerun_as)
    is distinct from row (new.status, new.awaits_approval, new.parked_at, new.pr_state, new.approved_sha, new.head_sha, new.rerun_as))
  execute function announce_inbox();
create trigger sandbox_fragments_announce_inbox after insert on sandbox_fragments for each row
  when (new.kind = 'elicitation') execute function announce_inbox_of_sandbox();
create trigger run_messages_announce_inbox after insert on run_messages for each row execute function announce_inbox();
create trigger reviews_announce_inbox after insert on reviews for each row execute function announce_inbox();
create trigger inbound_deliveries_announce_inbox after insert on inbound_deliveries for each row
  when (new.status = 'waiting') execute function announce_inbox();
create trigger inbound_deliveries_announce_inbox_changed after update of status on inbound_deliveries for each row
  when (old.status is distinct from new.status and 'waiting' in (old.status, new.status)) execute function announce_inbox();
-- down
drop trigger inbound_deliveries_announce_inbox_changed on inbound_deliveries;
drop trigger inbound_deliveries_announce_inbox on inbound_deliveries;
drop trigger reviews_announce_inbox on reviews;
drop trigger run_messages_announce_inbox on run_messages;
drop trigger sandbox_fragments_announce_inbox on sandbox_fragments;
drop trigger runs_announce_inbox_changed on runs;
drop trigger runs_announce_inbox on runs;
drop function announce_inbox_of_sandbox();
drop function announce_inbox();
alter table runs drop column rerun_as;
drop table inbox_marks;
