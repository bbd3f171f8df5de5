// Some personal values belong to an email address that has no account. The encryption keys of these values are found by a keyed digest of
// the address, and this digest differs in each installation. A file therefore contains the addresses themselves, so that the installation
// that imports the organization can find the encryption keys.
import { sendUnhurried } from '#foundation/postgres/copy.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { subjectOfAddress } from '../../organization/person-keys/keys.ts';
import { ownCondition, type PackedTable } from './tables.ts';

type Addresses = Readonly<Record<string, string>>;

/** Email addresses from records of the organization, by the digests that other records contain instead of the addresses. */
export async function addressesInFile(
  trx: Transaction,
  orgId: string,
  tables: readonly PackedTable[],
): Promise<Addresses> {
  const select = (column: string, table: PackedTable) =>
    `select ${column} collate "C" as value from ${table.name} where ${ownCondition(table, orgId, tables)}`;
  const having = (column: string) => tables.filter(({ columns }) => columns.includes(column));
  const emails = having('email').map((table) => select('email', table));
  const subjects = having('subject')
    .filter(({ name }) => /^person_/.test(name))
    .map((table) => select('subject', table));
  const used = new Set((await sendUnhurried<Value>(trx, subjects.join(' union '))).map(({ value }) => value));
  const found = await sendUnhurried<Value>(
    trx,
    `select value from (${emails.join(' union ')}) e where value is not null`,
  );
  const pairs = found.map(({ value }) => [subjectOfAddress(orgId, value).id, value] as const);
  return Object.fromEntries(pairs.filter(([digest]) => used.has(digest)));
}

interface Value {
  value: string;
}

/** Maps the digests in a file to this installation's digests of the same addresses. */
export const digestsHere = (orgId: string, found: Addresses): [inFile: string, here: string][] =>
  Object.entries(found).map(([digest, address]) => [digest, subjectOfAddress(orgId, address).id]);
