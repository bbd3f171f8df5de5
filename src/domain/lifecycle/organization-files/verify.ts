// Checks an imported organization before the commit: everything listed in the manifest must have arrived and be consistent.
import { sendUnhurried } from '#foundation/postgres/copy.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { verifyLedger } from '../../money/credits/verify.ts';
import { verifyLogIn } from '../audit/tree/verify.ts';
import type { RowCount } from './copied-rows.ts';
import { type Manifest, OrganizationFileError } from './format.ts';
import { ownCondition, type PackedTable, sharedTables } from './tables.ts';

interface Arrived {
  orgId: string;
  tables: readonly PackedTable[];
  manifest: Manifest;
  counts: Readonly<Record<string, RowCount>>;
  contents: Manifest['contents'];
}

/** Verifies the imported rows. @throws OrganizationFileError with all defects that were found. */
export async function verifyRows(trx: Transaction, arrived: Arrived): Promise<void> {
  refuse([
    ...compareManifest(arrived),
    ...(await compareRows(trx, arrived)),
    ...(await checkKeys(trx, arrived)),
    ...(await checkContents(trx, arrived)),
  ]);
}

/** Verifies the ledger and the audit log, after the keys of the log were added. @throws OrganizationFileError with all defects that were found. */
export async function verifyLogs(trx: Transaction, orgId: string): Promise<void> {
  const ofLedger = (await verifyLedger(trx, orgId)).map((finding) => `ledger: ${finding}`);
  const ofLog = (await verifyLogIn(trx, orgId, [])).findings.map((finding) => `audit log: ${finding}`);
  refuse([...ofLedger, ...ofLog]);
}

function refuse(findings: readonly string[]): void {
  if (findings.length > 0) throw new OrganizationFileError(`the file is damaged:\n${findings.join('\n')}`);
}

function compareManifest({ tables, manifest, counts, contents }: Arrived): string[] {
  const findings: string[] = [];
  for (const { name } of tables) {
    const [said, arrived] = [manifest.tables[name], counts[name]];
    if (
      !said ||
      !arrived ||
      said.rows !== arrived.rows ||
      said.bytes !== arrived.bytes ||
      said.sha256 !== arrived.sha256
    )
      findings.push(`${name}: its rows differ from the manifest`);
  }
  const { files, bytes, sha256, missing } = manifest.contents;
  if (files !== contents.files || bytes !== contents.bytes || sha256 !== contents.sha256)
    findings.push('the contents differ from the manifest');
  if (JSON.stringify([...missing].sort()) !== JSON.stringify([...contents.missing].sort()))
    findings.push('contents that the manifest lists are missing');
  return findings;
}

async function compareRows(trx: Transaction, { orgId, tables, manifest }: Arrived): Promise<string[]> {
  const findings: string[] = [];
  for (const table of tables) {
    if (isShared(table)) continue;
    const text = `select count(*)::int as rows from ${table.name} where ${ownCondition(table, orgId, tables)}`;
    const [{ rows } = { rows: 0 }] = await sendUnhurried<{ rows: number }>(trx, text);
    const said = manifest.tables[table.name]?.rows;
    if (rows !== said) findings.push(`${table.name}: ${said} rows were sent, ${rows} arrived`);
  }
  return findings;
}

const isShared = ({ name }: PackedTable): boolean => sharedTables.some((shared) => shared === name);

/**
 * Checks foreign keys, because the database did not check rows that were inserted without triggers. Rows of the organization refer to each
 * other, to people and to clients, never to rows of another organization.
 */
async function checkKeys(trx: Transaction, { orgId, tables }: Arrived): Promise<string[]> {
  const findings: string[] = [];
  for (const table of tables) {
    for (const { name, columns, target, joins } of table.keys) {
      const present = columns.map((column) => `r."${column}" is not null`).join(' and ');
      const owner = tables.find((one) => one.name === target && !isShared(one));
      const isOwn = owner ? `(${ownCondition(owner, orgId, tables)})` : 'true';
      const text = `select 1 as missing from (select ${columns.map((column) => `"${column}"`).join(', ')} from ${table.name}
        where ${ownCondition(table, orgId, tables)}) r where ${present} and not exists (select from ${target} t where ${joins} and ${isOwn}) limit 1`;
      if ((await sendUnhurried(trx, text)).length > 0)
        findings.push(`${table.name}: a row refers to a missing row of ${target} (${name})`);
    }
  }
  return findings;
}

/** Reports contents that are shared with another organization, because they would be removed together with that organization. */
async function checkContents(trx: Transaction, { orgId, tables }: Arrived): Promise<string[]> {
  const using = tables.filter(({ columns }) => columns.includes('content_key'));
  const keys = (table: PackedTable, isOwn: boolean) =>
    `select content_key collate "C" as key from ${table.name} where ${isOwn ? '' : 'not '}(${ownCondition(table, orgId, tables)})`;
  const all = (isOwn: boolean) => using.map((table) => keys(table, isOwn)).join(' union all ');
  const shared = await sendUnhurried(
    trx,
    `select 1 as shared from (${all(true)}) own where own.key in (select key from (${all(false)}) others) limit 1`,
  );
  return shared.length > 0 ? ['a record has the content of another organization'] : [];
}
