-- Questions of agents offer choices. Tool calls of an agent that need a person are questions that are approved or denied.
-- up
alter table sandbox_fragments add column choices text[];
alter table run_messages add column approved boolean;
-- down
alter table run_messages drop column approved;
alter table sandbox_fragments drop column choices;
