// The verification of an organization's audit log against its tree, by the operator's command.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../the-service.ts';

interface Installation {
  databaseUrl: string;
  folder: string;
  secretKey: Buffer;
  url: string;
}

/** Findings in words; empty when the log of the organization `acme` and its tree agree. */
export async function verifyTree({ databaseUrl, folder, secretKey, url }: Installation): Promise<string[]> {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SECRET_KEY: secretKey.toString('base64'),
    PUBLIC_URL: url,
  };
  const args = [path.join(root, 'dist/admin.js'), 'audit:verify', '--org', 'acme'];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    console.log(`The log and its tree agree: ${/"size": (\d+)/.exec(stdout)?.[1]} events.`);
    return [];
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return [`the tree of the log: ${stdout} ${stderr}`];
  }
}
