-- Messages about parts that a runtime has left out of an environment, such as unsupported members of devcontainer.json.
-- up
alter table preparations add column notes text[] not null default '{}';
-- down
alter table preparations drop column notes;
