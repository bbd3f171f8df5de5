-- The inbox reads the effects of an organization that wait for a person.
-- up
create index outside_effects_inbox on outside_effects (org_id) where state in ('staged', 'failed');
-- down
drop index outside_effects_inbox;
