// Leases of runs that their runtimes could not renew, because the organization was moving.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { lease } from '#limits.ts';
import { isInState } from './states.ts';

const renewSql = `update runs set lease_until = $2 where org_id = $1 and ${isInState(['running'])} and lease_until < $2`;

/** Lets the leases of an organization last anew, so that its runtimes find their runs. */
export const restartLeases = async (trx: Transaction, orgId: string): Promise<void> =>
  void (await sql(renewSql, [orgId, now() + lease.lastsMs], trx));
