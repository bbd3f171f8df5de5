-- Organizations that are moving between cells or have left this one, and the slugs that the directory reserves (docs/cells.md).
-- up
-- No row: the organization is of this cell alone. The row outlives the rows of the organization, because it says where they are.
create table cell_organizations (
  org_id text collate "C" primary key,
  slug text not null,
  -- draining and frozen: on its way from here; arriving: on its way to here; moved: served by the other cell.
  state text not null check (state in ('draining', 'frozen', 'arriving', 'moved')),
  other_cell text not null,
  -- The move, in both cells.
  move_id text not null,
  -- The packed file: its place in the storage, and what the other cell has to have received.
  file jsonb,
  -- Background jobs that wait for the organization, to be written where it is served.
  jobs jsonb not null default '[]',
  changed_at bigint not null,
  -- When the last row of an organization that has moved was removed here.
  erased_at bigint
);
create index cell_organizations_slug on cell_organizations (slug);

create table cell_slugs (
  slug text collate "C" primary key,
  org_id text not null,
  cell text not null,
  reserved_at bigint not null
);
create index cell_slugs_org on cell_slugs (org_id);

-- Guards a row of an organization that is moving: callers get an error, and work of the service itself passes the row over, because its
-- statements concern many organizations. The triggers exist only while an organization is moving (src/domain/lifecycle/moves/guard.ts).
-- The first argument is the column of the organization, or else that of the record named by the other two (table and column).
create function guard_moving_organization() returns trigger language plpgsql as $$
declare
  org text;
  moving text;
  origin text := nullif(current_setting('audit.origin', true), '');
  sender jsonb := case when origin <> 'off' then origin::jsonb end;
  is_service boolean := coalesce(sender ->> 'actorType' = 'system', false);
begin
  -- The mover itself, and erasures that are not recorded.
  if origin = 'off' or sender ->> 'surface' = 'mover' then
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  org := to_jsonb(case when tg_op = 'DELETE' then old else new end) ->> tg_argv[0];
  if tg_nargs = 3 then
    execute format('select org_id from %I where %I = $1', tg_argv[1], tg_argv[2]) into org using org;
  end if;
  if org is not null then
    -- The mover holds this lock while it changes the state, so it waits for the writes that have passed.
    perform pg_advisory_xact_lock_shared(hashtextextended('cell ' || org, 0));
    select state into moving from cell_organizations where org_id = org;
    if moving is not null and not (is_service and moving = 'draining') then
      if is_service then
        return null;
      end if;
      raise exception 'the organization is moving' using errcode = 'XM001';
    end if;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
-- down
drop function guard_moving_organization() cascade;
drop table cell_slugs;
drop table cell_organizations;
