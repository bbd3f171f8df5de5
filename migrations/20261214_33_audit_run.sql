-- The planner inserts the body of this function into the statement that calls it, instead of planning the body at each call: about a
-- millisecond for each recorded change of a run. It does so only if the function is not declared stricter than what it calls.
-- up
alter function audit_run(runs) stable;
-- down
alter function audit_run(runs) immutable;
