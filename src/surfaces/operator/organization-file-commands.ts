// The operator's commands for files of organizations: pack an organization into a file, and add an organization from a file to this
// installation (docs/organization-files.md).
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { joinOrganization, organizationIn } from '#domain/lifecycle/organization-files/join.ts';
import { packOrganization } from '#domain/lifecycle/organization-files/pack.ts';
import { reserveForJoin } from '#domain/organization/organizations/reserved-slugs.ts';
import { ownCell } from '#foundation/http/cells.ts';
import { type Command, command, type Place } from './command.ts';
import { organizationOf, slug } from './organization-option.ts';

const file = z
  .string()
  .min(1)
  .transform((name) => path.resolve(name));
const secretFile = file
  .describe(
    'A file with the passphrase, at least 12 characters, or with a key as `openssl rand -base64 32` prints it; by default it is read from standard input.',
  )
  .optional();

export const organizationFileCommands: Record<string, Command> = {
  'org:pack': command({
    example: '--org acme --to acme.aep --passphrase-file passphrase.txt',
    about:
      'Writes an organization with all of its data into a new file, while the service runs: records, contents, audit log, ledger and secrets, which are sealed with the passphrase.',
    options: z.object({ org: slug, to: file.describe('The path of the new file.'), 'passphrase-file': secretFile }),
    run: async ({ org, to, 'passphrase-file': from }, place) => {
      const { id } = await organizationOf(org);
      const secret = await readSecret(from, place);
      const { header, manifest } = await writeWhole(to, (write) => packOrganization(id, secret, write));
      const { bytes, files, missing } = manifest.contents;
      return {
        ...{ file: to, organization: header.organization, schema: header.schema },
        rows: Object.values(manifest.tables).reduce((sum, { rows }) => sum + rows, 0),
        contents: { files, bytes, missing },
      };
    },
  }),
  'org:join': command({
    example: '--from acme.aep --passphrase-file passphrase.txt',
    about:
      'Adds the organization of a file to this installation, which must have the same schema. Everything is verified first; a join that fails changes nothing.',
    options: z.object({ from: file.describe('The path of the file.'), 'passphrase-file': secretFile }),
    run: async ({ from, 'passphrase-file': secretFrom }, place) => {
      const secret = await readSecret(secretFrom, place);
      if (ownCell() !== null) await reserveForJoin(await organizationIn(from, secret));
      return joinOrganization(createReadStream(from), secret);
    },
  }),
};

async function readSecret(from: string | undefined, { readInput }: Place): Promise<string> {
  const secret = from === undefined ? await readInput() : (await readFile(from, 'utf8')).trim();
  if (secret === '') throw new Error(`${from ?? 'standard input'} is empty: it must contain the passphrase`);
  return secret;
}

/** Writes a new file, which gets its final name only when it is complete. */
async function writeWhole<T>(to: string, work: (write: (chunk: Buffer) => Promise<void>) => Promise<T>): Promise<T> {
  const partial = `${to}.unfinished`;
  const reserved = await open(to, 'wx', 0o600);
  try {
    const handle = await open(partial, 'w', 0o600);
    try {
      const result = await work((chunk) => handle.writeFile(chunk));
      await handle.sync();
      await rename(partial, to);
      return result;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await Promise.all([partial, to].map((name) => rm(name, { force: true })));
    throw error;
  } finally {
    await reserved.close();
  }
}
