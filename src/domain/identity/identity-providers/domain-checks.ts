// Regular checks of verified domains: a domain whose record has been missing for a week no longer counts as verified.
import { now } from '#foundation/clock.ts';
import { OutboundError } from '#foundation/http/outbound.ts';
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { domainCheckMs } from './bounds.ts';
import { SignInDomain } from './domain-model.ts';
import { hasRecord } from './domains.ts';

// Changing `checked_at` claims the domain, so that only one process checks it.
const claimSql = `update sign_in_domains set checked_at = $1 where id in (
    select id from sign_in_domains where verified_at is not null and checked_at <= $2
      and ${isWritableSql('sign_in_domains.org_id')} order by checked_at limit 20
    for update skip locked)
  returning ${columnsOf(SignInDomain)}`;
const presentSql = 'update sign_in_domains set missing_since = null where id = $1 and missing_since is not null';
const missingSql = `update sign_in_domains set missing_since = coalesce(missing_since, $2),
    verified_at = case when missing_since <= $3 then null else verified_at end, required = required and coalesce(missing_since > $3, true)
  where id = $1 and verified_at is not null`;

/** Checks the domains that have not been checked for a day. If name servers do not answer, nothing changes. */
export async function checkDomains(): Promise<void> {
  const at = now();
  for (;;) {
    const domains = await sql<SignInDomain>(claimSql, [at, at - domainCheckMs.interval]);
    if (domains.length === 0) return;
    await Promise.all(
      domains.map(async (domain) => {
        const isThere = await hasRecord(domain).catch((error) => {
          if (!(error instanceof OutboundError)) throw error;
          return null;
        });
        if (isThere === null) return;
        await (isThere ? sql(presentSql, [domain.id]) : sql(missingSql, [domain.id, at, at - domainCheckMs.grace]));
      }),
    );
  }
}
