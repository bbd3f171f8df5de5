-- Why a runtime does not offer a harness yet, such as an installation under way: runs that wait for it say so.
-- up
alter table runtime_harnesses add column notice text;

-- down
alter table runtime_harnesses drop column notice;
