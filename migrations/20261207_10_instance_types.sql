-- Instance types of missions: as their start or their sandbox template says. Null: not chosen.
-- up
alter table runs add column instance_type text;
alter table sandbox_templates add column instance_type text;
-- Types that the runtime has room for; null: it does not say.
alter table runtime_harnesses add column instance_types text[];
-- down
alter table runtime_harnesses drop column instance_types;
alter table sandbox_templates drop column instance_type;
alter table runs drop column instance_type;
