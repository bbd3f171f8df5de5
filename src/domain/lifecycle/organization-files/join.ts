// Imports an organization from a file into this installation. One transaction writes all rows of the organization, and commits only after
// everything in the file was verified.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ArchiveError, readArchive } from '#foundation/archive/tar.ts';
import { isoTime, now } from '#foundation/clock.ts';
import { sendUnhurried, streamingTransaction } from '#foundation/postgres/copy.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { unsealWith } from '#foundation/secrets/secrets.ts';
import { recordAction } from '../../organization/audit-changes/changes.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { slugHeldBy } from '../../organization/organizations/reserved-slugs.ts';
import { adoptJoinedContents } from '../../work/artifacts/joining.ts';
import { archiveContentsOf } from '../../work/sandboxes/archives.ts';
import { insertJoinedKey } from '../audit/tree/joined-keys.ts';
import { installationKeys } from '../audit/tree/keys.ts';
import { digestsHere } from './addresses.ts';
import { type EntryCursor, openCursor, readNamed } from './entries.ts';
import { openFileKey } from './file-key.ts';
import { type Header, headerName, headerSchema, manifestName, OrganizationFileError, readManifest } from './format.ts';
import { adoptContents, receiveContents, removeUnused } from './joining-contents.ts';
import { type JoinedPeople, joinPeople } from './joining-people.ts';
import { type Loading, loadRows } from './joining-rows.ts';
import { packedTables } from './tables.ts';
import { verifyLogs, verifyRows } from './verify.ts';

export interface Joined {
  organization: Header['organization'];
  /** URL of the installation that the organization comes from. */
  from: string;
  /** Number of rows by table. */
  tables: Record<string, number>;
  contents: { files: number; bytes: number; missing: string[] };
  people: { added: number; known: JoinedPeople['known'] };
}

interface JoinOptions {
  /** Runs at the end of the import's transaction. */
  settle?: (trx: Transaction, joined: Joined) => Promise<void>;
  /**
   * Whether a closed organization is imported too, as `open` does, which only shows it. Otherwise it is refused: it could not be reopened, the
   * end of its retention would erase it, and both installations would settle its credits.
   */
  acceptsClosed?: boolean;
}

/**
 * Imports the organization in a file. A failed import changes nothing. @throws OrganizationFileError for a file that is damaged, has
 * another schema or was encrypted with another secret, and for an organization that is closed or that this installation already has
 */
export async function joinOrganization(
  source: AsyncIterable<Uint8Array>,
  secret: string,
  { settle, acceptsClosed = false }: JoinOptions = {},
): Promise<Joined> {
  const received: string[] = [];
  try {
    const entries = openCursor(readArchive(source));
    const text = await readNamed(entries, headerName);
    const header = readHeader(text);
    const key = await openFileKey(header, secret);
    if (header.closedAt !== null && !acceptsClosed)
      throw new OrganizationFileError(
        `the organization was closed on ${isoTime(header.closedAt).slice(0, 10)}: a closed organization cannot be joined, but the command open shows it`,
      );
    return await streamingTransaction('isolation level read committed', async (trx) => {
      const joined = await joinIn(trx, { entries, header, headerText: text, key, received });
      await settle?.(trx, joined);
      return joined;
    });
  } catch (error) {
    await removeUnused(received);
    throw asFileError(error);
  }
}

/**
 * The organization in a file, read from the beginning of the file. @throws OrganizationFileError unless the file was written with the
 * secret
 */
export async function organizationIn(file: string, secret: string): Promise<Header['organization']> {
  const beginning = createReadStream(file);
  try {
    const header = readHeader(await readNamed(openCursor(readArchive(beginning)), headerName));
    await openFileKey(header, secret);
    return header.organization;
  } catch (error) {
    throw asFileError(error);
  } finally {
    beginning.destroy();
  }
}

/** Reads the header of an organization's file. @throws OrganizationFileError for any other file. */
function readHeader(text: Buffer): Header {
  try {
    return headerSchema.parse(JSON.parse(text.toString()));
  } catch {
    throw new OrganizationFileError('this is not an organization file');
  }
}

interface Joining {
  entries: EntryCursor;
  header: Header;
  headerText: Buffer;
  key: Buffer;
  /** Storage keys of contents that this import has stored so far. */
  received: string[];
}

async function joinIn(trx: Transaction, joining: Joining): Promise<Joined> {
  const { entries, header, headerText, key, received } = joining;
  const { organization } = header;
  await requireExclusive(trx, organization.id);
  await requireJoinable(trx, header);
  const tables = await packedTables(trx);
  requireSameColumns(header, tables);
  const contents = await receiveContents(entries, received);
  await disableTriggers(trx);
  const replaced = new Map(digestsHere(organization.id, JSON.parse(unsealWith(key, 'addresses', header.addresses))));
  const loading: Loading = { trx, entries, key, replaced, counts: {} };
  const people = await joinPeople(loading, tables);
  let missing: string[] = [];
  for (const table of tables) {
    if (table.name === 'stored_contents') missing = await adoptContents(loading, table);
    else if (!(table.name in loading.counts)) await loadRows(loading, table);
  }
  missing.push(...(await adoptJoinedContents(trx, await archiveContentsOf(trx, organization.id))));
  const manifest = readManifest((await readNamed(entries, manifestName)).toString(), key);
  if (await entries.peek())
    throw new OrganizationFileError('the file is damaged: it contains more than its manifest lists');
  const headerHash = createHash('sha256').update(headerText).digest('hex');
  if (manifest.id !== header.id || manifest.header !== headerHash)
    throw new OrganizationFileError('the file is damaged: its header was changed');
  const { counts } = loading;
  await verifyRows(trx, { orgId: organization.id, tables, manifest, counts, contents: { ...contents, missing } });
  await addKeys(trx, header);
  await verifyLogs(trx, organization.id);
  await recordAction(
    organization.id,
    'joined_organization',
    { id: organization.id, name: organization.name, from: header.from },
    trx,
  );
  return {
    ...{ organization, from: header.from, people },
    tables: Object.fromEntries(Object.entries(manifest.tables).map(([name, { rows }]) => [name, rows])),
    contents: { files: contents.files, bytes: contents.bytes, missing: manifest.contents.missing },
  };
}

/** An arbitrary constant, the same in all processes. */
const lockKey = 4_716_201_130;

async function requireExclusive(trx: Transaction, orgId: string): Promise<void> {
  const text = 'select pg_try_advisory_xact_lock(hashtextextended($1, $2)) as ours';
  const [lock] = await sendUnhurried<{ ours: boolean }>(trx, text, [orgId, lockKey]);
  if (!lock!.ours) throw new OrganizationFileError('another process is importing this organization');
}

async function requireJoinable(trx: Transaction, { organization: { id, slug }, schema }: Header): Promise<void> {
  const here = (await migrationStatus(trx)).applied.at(-1);
  if (schema !== here)
    throw new OrganizationFileError(
      `the file has the schema ${schema}, but this installation has ${here}: upgrade both installations to the same release, and write the file again`,
    );
  if (await Organization.find({ id: id as Organization['id'] }, trx))
    throw new OrganizationFileError(`the organization ${id} is already in this installation`);
  if (await Organization.find({ slug }, trx))
    throw new OrganizationFileError(slugHeldBy('another organization in this installation', slug));
}

function requireSameColumns(header: Header, tables: readonly { name: string; columns: string[] }[]): void {
  const text = (list: readonly { name: string; columns: string[] }[]) =>
    JSON.stringify(list.map(({ name, columns }) => [name, columns]));
  if (text(header.tables) !== text(tables))
    throw new OrganizationFileError('the tables of the file differ from those of this installation');
}

/**
 * Rows are inserted without triggers, which would count, number or announce them a second time. Foreign keys are triggers too, so they are
 * checked at the end.
 */
async function disableTriggers(trx: Transaction): Promise<void> {
  try {
    await sendUnhurried(trx, 'set local session_replication_role = replica');
  } catch (error) {
    throw new OrganizationFileError(
      'the role of DATABASE_URL is not allowed to set session_replication_role: grant the right with `grant set on parameter session_replication_role to ROLE`',
      { cause: error },
    );
  }
}

async function addKeys(trx: Transaction, { organization, auditKeys, createdAt }: Header): Promise<void> {
  const own = new Set((await installationKeys()).map(({ publicKey }) => publicKey));
  // The other installation's clock may be ahead.
  const retiredAt = Math.max(now(), createdAt);
  for (const key of auditKeys)
    if (!own.has(key.publicKey)) await insertJoinedKey(trx, organization.id, { ...key, retiredAt });
}

/** Converts errors about the file; errors of the database, the storage and the disk are returned unchanged. */
function asFileError(error: unknown): unknown {
  if (error instanceof ArchiveError) return new OrganizationFileError(error.message);
  const { code } = error as { code?: string };
  if (typeof code === 'string' && code.startsWith('Z_'))
    return new OrganizationFileError('the file is damaged: its rows cannot be decompressed', { cause: error });
  return error;
}
