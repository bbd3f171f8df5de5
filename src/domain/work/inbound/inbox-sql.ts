// Events that wait for the decision of a person, as items of the inbox (../../lifecycle/inbox). `$1` is the organization.
import { itemSql } from '../runs/inbox-sql.ts';

export const eventItemsSql = `${itemSql({
  id: `'event-' || d.id`,
  kind: `'event'`,
  since: 'coalesce(d.processed_at, d.received_at)',
  isUrgent: false,
  deliveryId: 'd.id',
  hookId: 'd.hook_id',
  title: 'coalesce(d.title, d.event)',
  detail: 'd.reason',
})} from (
    select d.id, d.hook_id, d.received_at, d.processed_at, d.title, d.event, d.reason from inbound_deliveries d
    where d.org_id = $1 and d.status = 'waiting' order by d.received_at desc limit 500
  ) d`;
