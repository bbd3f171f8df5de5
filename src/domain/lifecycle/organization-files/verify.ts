// The checks of a joined organization before its commit: everything that the manifest says has arrived, and is consistent.
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

/** The table that gets the keys of the other installation. */
const joinedKeys = 'audit_joined_keys';

/** Verifies the imported organization. @throws OrganizationFileError with all defects that were found. */
export async function verifyJoined(trx: Transaction, arrived: Arrived): Promise<void> {
  const findings = [
    ...compareManifest(arrived),
    ...(await compareRows(trx, arrived)),
    ...(await checkKeys(trx, arrived)),
  ];
  // An earlier finding also explains findings in the ledger and the log, so these are verified only if there is no earlier finding.
  if (findings.length === 0) {
    findings.push(...(await verifyLedger(trx, arrived.orgId)).map((finding) => `ledger: ${finding}`));
    const { findings: ofLog } = await verifyLogIn(trx, arrived.orgId, []);
    findings.push(...ofLog.map((finding) => `audit log: ${finding}`));
  }
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
      findings.push(`${name}: its rows are not those of the manifest`);
  }
  const { files, bytes, sha256, missing } = manifest.contents;
  if (files !== contents.files || bytes !== contents.bytes || sha256 !== contents.sha256)
    findings.push('the contents are not those of the manifest');
  if (JSON.stringify([...missing].sort()) !== JSON.stringify([...contents.missing].sort()))
    findings.push('contents are missing that the manifest has');
  return findings;
}

async function compareRows(trx: Transaction, { orgId, tables, manifest }: Arrived): Promise<string[]> {
  const findings: string[] = [];
  for (const table of tables) {
    if (table.name === joinedKeys || sharedTables.some((name) => name === table.name)) continue;
    const text = `select count(*)::int as rows from ${table.name} where ${ownCondition(table, orgId, tables)}`;
    const [{ rows } = { rows: 0 }] = await sendUnhurried<{ rows: number }>(trx, text);
    const said = manifest.tables[table.name]?.rows;
    if (rows !== said) findings.push(`${table.name}: ${said} rows were sent, ${rows} arrived`);
  }
  return findings;
}

/** Foreign keys, which the database has not checked for rows that were inserted without triggers. */
async function checkKeys(trx: Transaction, { orgId, tables }: Arrived): Promise<string[]> {
  const findings: string[] = [];
  for (const table of tables) {
    for (const { name, columns, target, joins } of table.keys) {
      const present = columns.map((column) => `r."${column}" is not null`).join(' and ');
      const text = `select 1 as missing from (select ${columns.map((column) => `"${column}"`).join(', ')} from ${table.name}
        where ${ownCondition(table, orgId, tables)}) r where ${present} and not exists (select from ${target} t where ${joins}) limit 1`;
      if ((await sendUnhurried(trx, text)).length > 0)
        findings.push(`${table.name}: a row refers to one of ${target} that is not there (${name})`);
    }
  }
  return findings;
}
