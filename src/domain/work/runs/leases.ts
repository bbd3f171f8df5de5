// Renews leases of runs after their organization was moved. During the move, the runtimes could not renew the leases.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { lease } from '#limits.ts';
import { isInState } from './states.ts';

const renewSql = `update runs set lease_until = $2 where org_id = $1 and ${isInState(['running'])} and lease_until < $2`;

/** Renews the leases of an organization, so that its runtimes still hold their runs. */
export const restartLeases = async (trx: Transaction, orgId: string): Promise<void> =>
  void (await sql(renewSql, [orgId, now() + lease.lastsMs], trx));
