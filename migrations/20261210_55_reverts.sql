-- Figures of quality: changes that were reverted.
-- up
-- When a pull request was merged that reverts the one of the run; null before.
alter table runs add column pr_reverted_at bigint;
-- down
alter table runs drop column pr_reverted_at;
