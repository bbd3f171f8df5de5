-- Orders are numbered without gaps within their organization, for their receipts. The trigger numbers those of the previous
-- release as well.
-- up
lock table billing_orders in share row exclusive mode;
alter table billing_orders add column number integer;

update billing_orders o set number = numbered.number
  from (select id, row_number() over (partition by org_id order by created_at, id) as number from billing_orders) numbered
  where numbered.id = o.id;

alter table billing_orders add constraint billing_orders_number unique (org_id, number);

-- The lock makes two orders of one organization at once count one after the other.
create function number_billing_order() returns trigger language plpgsql as $$
begin
  perform from organizations where id = new.org_id for no key update;
  select coalesce(max(number), 0) + 1 into new.number from billing_orders where org_id = new.org_id;
  return new;
end $$;
create trigger billing_orders_number before insert on billing_orders
  for each row execute function number_billing_order();
-- down
drop trigger billing_orders_number on billing_orders;
drop function number_billing_order();
alter table billing_orders drop column number;
