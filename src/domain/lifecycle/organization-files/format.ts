// The file of an organization: a tar archive with a header, the contents of the storage, the rows of each table in compressed pieces, and a
// manifest with the number and SHA-256 of the contents and of each table's rows (docs/organization-files.md).
import { createHmac } from 'node:crypto';
import { z } from 'zod';

export const format = 'agent-engineering-platform organization 1';

export const headerName = 'organization.json';
export const manifestName = 'manifest.json';
export const contentFolder = 'contents/';
export const tableFolder = 'tables/';
/** Uncompressed size at which a piece of a table is complete. */
export const pieceBytes = 1024 ** 2;
/** Maximum size of the header and of the manifest. */
export const maxTextBytes = 16 * 1024 ** 2;

/** Error for a defect of a file, or for a reason why its organization cannot be imported. */
export class OrganizationFileError extends Error {}

/** Maximum memory of scrypt, in blocks of 128 bytes. New files need half of it. */
const maxScryptBlocks = 2 ** 21;

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);

export const headerSchema = z.object({
  format: z.literal(format),
  /** Random id, different for each file. */
  id: z.string().regex(/^[0-9a-f]{32}$/),
  organization: z.object({ id: z.string().regex(/^org_\w{5,60}$/), slug: z.string(), name: z.string() }),
  /** URL of the installation that wrote the file. */
  from: z.string(),
  /** Name of the last migration of that installation. */
  schema: z.string(),
  createdAt: count,
  /** Time at which the organization was closed; null if it was open. */
  closedAt: count.nullable().default(null),
  key: z.object({
    /** How the key is derived from a passphrase; null for a key of 32 bytes. */
    scrypt: z
      .object({
        n: z
          .int()
          .min(2)
          .max(2 ** 20),
        r: z.int().min(1).max(32),
        p: z.int().min(1).max(4),
        salt: base64,
      })
      .refine(({ n, r }) => n * r <= maxScryptBlocks)
      .nullable(),
    /** The id of the file, sealed with the file's key. */
    check: z.string(),
  }),
  tables: z.array(
    z.object({ name: z.string().regex(/^[a-z][a-z0-9_]*$/), columns: z.array(z.string().regex(/^[a-z][a-z0-9_]*$/)) }),
  ),
  /** Public keys with which the checkpoints of the audit log are verified. */
  auditKeys: z.array(z.object({ id: z.string(), algorithm: z.string(), publicKey: base64, createdAt: count })),
  /**
   * An encrypted map of email addresses. Some records in the file contain a keyed digest in place of an email address; the map contains the
   * address for each of these digests.
   */
  addresses: z.string(),
});
export type Header = z.output<typeof headerSchema>;

const manifestSchema = z.object({
  id: z.string(),
  /** SHA-256 of the header. */
  header: hash,
  /** For each table: the number of rows, their size as text, and the SHA-256 of the text. */
  tables: z.record(z.string(), z.object({ rows: count, bytes: count, sha256: hash })),
  /**
   * The contents that the file has from the storage; `missing` lists the keys of contents that the storage lacked. `sha256` is the hash of all
   * contents in the file. In the hashed data, a line `KEY SIZE` precedes the bytes of each content.
   */
  contents: z.object({ files: count, bytes: count, sha256: hash, missing: z.array(z.string()) }),
});
export type Manifest = z.output<typeof manifestSchema>;

/** The manifest and its authentication with the key of the file. */
export const manifestText = (manifest: Manifest, fileKey: Buffer): string => {
  const text = JSON.stringify(manifest);
  return `${text}\n${macOf(text, fileKey)}\n`;
};

/** Reads and verifies the manifest. @throws OrganizationFileError if it was changed. */
export function readManifest(whole: string, fileKey: Buffer): Manifest {
  const [text = '', mac] = whole.split('\n');
  if (mac !== macOf(text, fileKey)) throw new OrganizationFileError('the file is damaged: its manifest was changed');
  return manifestSchema.parse(JSON.parse(text));
}

const macOf = (text: string, fileKey: Buffer): string =>
  createHmac('sha256', createHmac('sha256', fileKey).update('manifest').digest()).update(text).digest('hex');
