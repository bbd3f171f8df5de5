// Tells runtimes to drain: a draining runtime claims no new missions, finishes the missions that it has, and shuts down.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { conflict } from '#foundation/problem.ts';
import { ServiceToken } from './service-tokens.ts';

/** Maximum number of draining runtimes per token. */
export const maxDraining = 100;

// A runtime's name is stored only once, so a repeated call changes nothing.
const drainSql = `update service_tokens set draining = array_append(draining, $2)
  where id = $1 and not $2 = any(draining) and cardinality(draining) < ${maxDraining}`;
const resumeSql = `update service_tokens set draining = array_remove(draining, $2) where id = $1 and $2 = any(draining)`;

interface Drain {
  runtimeTokenId: string;
  name: string;
  isDraining: boolean;
}

/**
 * Tells a runtime of the organization to drain, or to take missions again. @throws 404, 409 beyond the maximum number of draining runtimes
 */
export async function drainRuntime(
  caller: Caller,
  { runtimeTokenId: id, name, isDraining }: Drain,
): Promise<ServiceToken> {
  const filter = { id, orgId: wholeOrganization(caller) };
  await ServiceToken.get(filter);
  await setDraining(id, name, isDraining);
  const token = await ServiceToken.get(filter);
  if (isDraining && !token.draining.includes(name))
    throw conflict(`At most ${maxDraining} runtimes of a token can be draining at once: resume other runtimes first.`);
  return token;
}

export const setDraining = (tokenId: string, name: string, isDraining: boolean, trx?: Transaction): Promise<unknown> =>
  sql(isDraining ? drainSql : resumeSql, [tokenId, name], trx);

/**
 * Removes runtimes that are no longer in the list of runtimes from the names of draining runtimes. A runtime that was killed does not report
 * its shutdown, so its name would otherwise stay, although people no longer see the runtime.
 * @param isListed SQL condition on the id of a token and the name of a runtime
 */
export const forgetDrains = (isListed: (tokenId: string, name: string) => string): Promise<unknown> => {
  const listed = (wanted: string) =>
    `select name from unnest(t.draining) name where ${wanted} ${isListed(reference('t.id'), 'name')}`;
  return sql(`update service_tokens t set draining = array(${listed('')}) where exists (${listed('not')})`);
};

/** SQL condition: the runtime with this token and name is draining. */
export const isDrainingSql = (tokenId: string, name: string): string =>
  `exists (select from service_tokens s where s.id = ${tokenId} and ${name} = any(s.draining))`;

const drainingSql = 'select id, draining from service_tokens where org_id = $1 and cardinality(draining) > 0';

/** Names of the draining runtimes of an organization, by token. */
export const readDraining = async (orgId: string): Promise<Map<string, string[]>> => {
  const tokens = await sql<Pick<ServiceToken, 'id' | 'draining'>>(drainingSql, [orgId]);
  return new Map(tokens.map(({ id, draining }) => [id, draining]));
};

export async function isRuntimeDraining({ credentialId }: Caller, name: string): Promise<boolean> {
  const query = `select ${isDrainingSql('$1', '$2')} as is_draining`;
  return (await sql<{ isDraining: boolean }>(query, [credentialId, name]))[0]!.isDraining;
}
