// Adds the people of a file. People have one account per installation: a person who already has an account with the same email address here
// keeps that account; other people are added with their ids from the file.
import { sendUnhurried } from '#foundation/postgres/copy.ts';
import { OrganizationFileError } from './format.ts';
import { type Loading, loadTemporary } from './joining-rows.ts';
import { type PackedTable, quotedName, sharedTables } from './tables.ts';

export interface JoinedPeople {
  added: number;
  /** People who have an account here with a different id than in the file. */
  known: { email: string; inFile: string; here: string }[];
}

/**
 * Adds those people and clients of the file whom this installation does not have yet. If a person already has an account here, records that
 * the id in the file is replaced by the id here.
 */
export async function joinPeople(loading: Loading, tables: readonly PackedTable[]): Promise<JoinedPeople> {
  const [people, clients] = sharedTables.map((name) => tables.find((table) => table.name === name)!);
  const result = await addPeople(loading, people!);
  await addMissing(loading, clients!, await loadTemporary(loading, clients!), 't.id = r.id');
  return result;
}

const knownSql = (people: PackedTable, joining: string) => `select r.email, r.id as "inFile", t.id as here
  from ${joining} r join ${people.name} t on t.email = r.email where t.id <> r.id order by r.email for key share of t`;
const renamedSql = (people: PackedTable, joining: string) => `select r.id, r.email, t.email as here
  from ${joining} r join ${people.name} t on t.id = r.id
  where t.email <> r.email and not exists (select from ${people.name} o where o.email = r.email) order by r.email limit 1`;

async function addPeople(loading: Loading, people: PackedTable): Promise<JoinedPeople> {
  const { trx, replaced } = loading;
  const joining = await loadTemporary(loading, people);
  const [renamed] = await sendUnhurried<{ id: string; email: string; here: string }>(trx, renamedSql(people, joining));
  if (renamed)
    throw new OrganizationFileError(
      `the person ${renamed.id} has the email address ${renamed.email} in the file and ${renamed.here} here: change one of the two addresses first`,
    );
  const known = await sendUnhurried<JoinedPeople['known'][number]>(trx, knownSql(people, joining));
  for (const { inFile, here } of known) replaced.set(inFile, here);
  const added = await addMissing(loading, people, joining, 't.id = r.id or t.email = r.email');
  return { added, known };
}

async function addMissing(
  { trx }: Loading,
  { name, columns }: PackedTable,
  joining: string,
  same: string,
): Promise<number> {
  const list = columns.map(quotedName).join(', ');
  const text = `insert into ${name} (${list}) select ${list} from ${joining} r
    where not exists (select from ${name} t where ${same}) returning 1 as added`;
  return (await sendUnhurried(trx, text)).length;
}
