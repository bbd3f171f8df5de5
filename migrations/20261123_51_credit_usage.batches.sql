-- Fills the usage in the transfers that were there before, by organization and in the order of its ledger.
-- up
with page as (
    select id, org_id, seq, run_id, kind, amount from credit_transfers
    where (org_id, seq) > (split_part($1, ' ', 1), coalesce(nullif(split_part($1, ' ', 2), '')::bigint, 0))
    order by org_id, seq limit 500
  ),
  earlier as (
    select p.org_id, t.spent_after, t.missions_after from (select org_id, min(seq) as seq from page group by org_id) p
    cross join lateral (
      select spent_after, missions_after from credit_transfers
      where org_id = p.org_id and seq < p.seq order by seq desc limit 1
    ) t
  ),
  counted as (
    select p.id, coalesce(e.spent_after, 0) - coalesce(sum(p.amount) filter (where p.kind = 'spend') over ledger, 0) as spent_after,
      coalesce(e.missions_after, 0) + count(*) filter (where p.kind = 'spend' and not exists (
        select from credit_transfers f
        where f.run_id = p.run_id and f.org_id = p.org_id and f.kind = 'spend' and f.seq < p.seq
      )) over ledger as missions_after
    from page p left join earlier e on e.org_id = p.org_id
    window ledger as (partition by p.org_id order by p.seq)
  ),
  filled as (
    update credit_transfers t set spent_after = c.spent_after, missions_after = c.missions_after
    from counted c where t.id = c.id and t.spent_after is null
  )
select (select org_id || ' ' || seq from page order by org_id desc, seq desc limit 1) as after
-- down
select 1;
