-- A background job of an organization that moves gets an error and is repeated where the organization is served: only the periodic work on
-- many organizations passes rows over (docs/decisions/0086-writes-of-the-service-during-a-move.md).
-- up
create or replace function guard_moving_organization() returns trigger language plpgsql as $$
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
    -- The mover holds this lock while it changes the state, so it waits for the writers that have passed.
    perform pg_advisory_xact_lock_shared(hashtextextended('cell ' || org, 0));
    select state into moving from cell_organizations where org_id = org;
    if moving is not null and not (is_service and moving = 'draining') then
      if is_service and sender ->> 'surface' = 'scheduler' then
        return null;
      end if;
      raise exception 'the organization is moving' using errcode = 'XM001';
    end if;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
-- down
create or replace function guard_moving_organization() returns trigger language plpgsql as $$
declare
  org text;
  moving text;
  origin text := nullif(current_setting('audit.origin', true), '');
  sender jsonb := case when origin <> 'off' then origin::jsonb end;
  is_service boolean := coalesce(sender ->> 'actorType' = 'system', false);
begin
  if origin = 'off' or sender ->> 'surface' = 'mover' then
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  org := to_jsonb(case when tg_op = 'DELETE' then old else new end) ->> tg_argv[0];
  if tg_nargs = 3 then
    execute format('select org_id from %I where %I = $1', tg_argv[1], tg_argv[2]) into org using org;
  end if;
  if org is not null then
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
