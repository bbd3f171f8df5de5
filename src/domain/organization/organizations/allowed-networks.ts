// Networks from which an organization accepts its credentials. The check itself is part of each look-up of a credential
// (`allowsAddressSql`; docs/decisions/0079-networks-are-checked-with-the-credential.md).
import { isIP, isIPv4 } from 'node:net';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { plainAddress } from '#foundation/http/network.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { allowsAddressSql } from './join.ts';

export interface AllowedNetworks {
  /** Networks in CIDR notation; empty when requests may come from any address. */
  networks: string[];
  /** The address of the present request; null when it is unknown. */
  address: string | null;
}

const addressOf = ({ source }: Caller): string | null => (source ? plainAddress(source.address) : null);

/** A network in PostgreSQL's notation; null for text that is not a network. An address without a prefix length is a network with one address. */
export function readNetwork(text: string): string | null {
  const [, address, prefix] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const plain = address === undefined ? null : plainAddress(address);
  if (plain === null) return null;
  const widest = isIP(address!) === 6 ? 128 : 32;
  const bits = prefix === undefined ? widest : Number(prefix);
  // IPv4 networks that are mapped into IPv6 become plain IPv4 networks; `plainAddress` converts addresses in the same way.
  const kept = widest === 128 && isIPv4(plain) ? bits - 96 : bits;
  return bits > widest || kept < 0 ? null : `${plain}/${kept}`;
}

const findSql = 'select allowed_networks::text[] as networks from organizations where id = $1';

export async function findAllowedNetworks(caller: Caller): Promise<AllowedNetworks> {
  const [found] = await sql<{ networks: string[] | null }>(findSql, [wholeOrganization(caller)]);
  return { networks: found?.networks ?? [], address: addressOf(caller) };
}

const wholeSql = 'select network(given::inet)::text as network from unnest($1::text[]) given';
const setSql = `update organizations set allowed_networks = nullif($2::text[], '{}')::cidr[]
  where id = $1 and ($2::text[] = '{}' or coalesce($3::inet <<= any ($2::text[]::cidr[]), false)) returning id`;

/**
 * Replaces the list; an empty list allows every address. @throws 400 for text that is not a network, and for a list that excludes the
 * address of the request, because it would lock the caller out
 */
export async function setAllowedNetworks(caller: Caller, input: { networks: string[] }): Promise<AllowedNetworks> {
  beyondOneProject(caller);
  const given = input.networks.map((text) => readNetwork(text)!);
  const whole = await sql<{ network: string }>(wholeSql, [given]);
  whole.forEach(({ network }, i) => {
    if (network !== given[i])
      throw invalid.field(`networks.${i}`, `${given[i]} has address bits after its prefix; the network is ${network}`);
  });
  const networks = [...new Set(given)];
  const address = addressOf(caller);
  if ((await sql(setSql, [ownOrganization(caller), networks, address])).length === 0)
    throw invalid.field(
      'networks',
      `must contain ${address ?? 'your address, which is unknown'}, the address of this request: the list would lock you out`,
    );
  return { networks, address };
}

const openSql = `update organizations o set allowed_networks = null from organizations before
  where o.id = $1 and before.id = o.id returning coalesce(before.allowed_networks::text[], '{}') as networks`;

/** Removes the list of an organization, so that its members can send requests from any address again. Returns the removed networks. */
export const openNetworks = async (orgId: string): Promise<string[]> =>
  (await sql<{ networks: string[] }>(openSql, [orgId]))[0]?.networks ?? [];

/** Whether the organization allows requests from the address (`plainAddress`). */
export const allowsAddress = async (trx: Transaction, orgId: string, address: string | null): Promise<boolean> =>
  (await sql(`select 1 where ${allowsAddressSql('$1', '$2')}`, [orgId, address], trx)).length > 0;

const refusingSql = `select id from unnest($1::text[]) id where not ${allowsAddressSql('id', '$2')}`;

/** The organizations among the given ones that do not allow the address (`plainAddress`). */
export const organizationsRefusing = async (orgIds: readonly string[], address: string | null): Promise<string[]> =>
  orgIds.length === 0 ? [] : (await sql<{ id: string }>(refusingSql, [orgIds, address])).map(({ id }) => id);
