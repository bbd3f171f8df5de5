// Exports and verifies copies of the audit log, which prove that the log was not changed: entries with their hashes,
// and signed checkpoints.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Client } from '../../../typescript/src/exports.ts';
import { entryLine, verifyFile } from '../audit-file.ts';
import { checkpointsIn } from '../audit-notes.ts';
import { exitCodes, plain, printJson, printLine, toJson } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

/**
 * Prints every entry, then every checkpoint. The checkpoints are read first, so that every entry that a checkpoint covers is among the
 * printed ones.
 */
export async function exportEntries(client: Client): Promise<void> {
  const checkpoints: string[] = [];
  for await (const { note, verifierKey } of client.auditCheckpoints({ limit: 200 })) {
    checkpoints.unshift(toJson({ checkpoint: note, key: verifierKey }));
  }
  const print = process.stdout.isTTY ? (line: string) => printLine(plain(line)) : printLine;
  for await (const { number, leafHash, entry } of client.auditEntries({ limit: 200 })) {
    print(entryLine(number, leafHash, entry));
  }
  for (const line of checkpoints) printLine(line);
}

export async function checkpoints(options: CommonOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const { limit } = options;
  const found = await client.auditCheckpoints({ limit: Math.min(limit, 200) }).take(limit);
  if (options.json) return printJson(found);
  printLine(found.map(({ note }) => plain(note)).join('\n'));
}

interface VerifyOptions extends CommonOptions {
  keys?: string;
  checkpoints?: string;
}

/** Exits with 1 for a log that was changed. */
export async function verify(options: VerifyOptions, file: string): Promise<void> {
  const trusted = options.keys === undefined ? undefined : await readKeys(options.keys);
  const kept = options.checkpoints === undefined ? [] : checkpointsIn(await readFile(options.checkpoints, 'utf8'));
  if (options.checkpoints !== undefined && kept.length === 0)
    throw new UserError(`${options.checkpoints} contains no checkpoint.`);
  const input = createReadStream(file);
  // The line reader does not pass on the error of a file that cannot be read.
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const report = await Promise.race([verifyFile(lines, { trusted, kept }), failed]);
  if (options.json) printJson(report);
  else {
    const { entries, firstNumber, signed, checkpoints, findings } = report;
    for (const finding of findings) printLine(finding);
    const state = `${entries} entries, ${checkpoints} checkpoints; entries up to ${signed} are signed.`;
    if (findings.length === 0) printLine(`The log was not changed: ${state}`);
    if (firstNumber > 1)
      printLine(`The retention has deleted entries up to ${firstNumber - 1}; their hashes are in the tree.`);
    if (!trusted) printLine('The keys come from the file: use --keys to compare them with the keys of the service.');
  }
  if (report.findings.length > 0) process.exitCode = exitCodes.error;
}

async function readKeys(file: string): Promise<Buffer[]> {
  try {
    const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: { algorithm: string; publicKey: string }[] };
    const found = keys.flatMap(({ algorithm, publicKey }) =>
      algorithm === 'ed25519' ? [Buffer.from(publicKey, 'base64')] : [],
    );
    if (found.length > 0 && found.every(({ length }) => length === 32)) return found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code) throw error;
  }
  throw new UserError(`${file} is not a list of keys in the format of /.well-known/audit-keys.json.`);
}
