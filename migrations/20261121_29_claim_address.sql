-- The network address that asked for a claim: the person sees it before they decide.
-- up
alter table claim_attempts add column address text;
-- down
alter table claim_attempts drop column address;
