// Attestations of commits: prints those of the service, and verifies one in a git repository without the service.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Commit, type Keys, type Statement, verifyAttestation } from '../attestation.ts';
import { git, gitBytes, gitWith } from '../checkout.ts';
import { exitCodes, plain, printJson, printLine, printRecord, toJson } from '../output.ts';
import { type CommonOptions, openClient, serviceUrl, UserError } from '../session.ts';

/** The git reference whose notes hold the attestations of commits. */
export const notes = 'refs/notes/attestations';

/** Prints the envelope of the commit as one line. */
export async function show(options: CommonOptions, commit: string): Promise<void> {
  const client = await openClient(options.url);
  const found = await client.attestation({ sha: await wholeId(commit) });
  if (options.json) return printJson(found);
  printLine(toJson(found.envelope));
}

/** Prints each call as one line. The option `--calls` of `verify` reads a file of these lines. */
export async function calls(options: CommonOptions, runId: string): Promise<void> {
  const client = await openClient(options.url);
  for await (const call of client.runCalls({ runId, limit: 200 })) printLine(toJson(call));
}

/** The full id of a commit. Outside of a repository, the text is returned unchanged. */
const wholeId = (commit: string): Promise<string> =>
  git('.', 'rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`).catch(() => commit);

export interface VerifyOptions extends CommonOptions {
  keys?: string;
  envelope?: string;
  calls?: string;
}

/** Exits with 1 for a commit without a valid attestation. */
export async function verify(options: VerifyOptions, name: string): Promise<void> {
  const { commit, findings: ofObject } = await readCommit(name);
  const keys = await readKeys(options);
  const entries = options.calls === undefined ? null : await readCalls(options.calls);
  const texts = options.envelope === undefined ? await readNote(commit) : [await readFile(options.envelope, 'utf8')];
  const verified = texts.map((text) => verifyAttestation(text, keys, commit, entries));
  const findings = [...ofObject, ...verified.flatMap((one) => one.findings)];
  const statement = verified.find((one) => one.statement && one.findings.length === 0)?.statement ?? null;
  if (findings.length > 0) process.exitCode = exitCodes.error;
  if (options.json) return printJson({ commit: commit.sha, isValid: findings.length === 0, findings, statement });
  for (const finding of findings) printLine(plain(finding));
  if (findings.length > 0 || !statement) return;
  printLine(plain(`${commit.sha} is attested by ${statement.predicate.platform}.`));
  printRecord(describe(statement));
}

/** Reads a commit, and computes its id from its bytes. Git itself would not notice bytes that do not match the id, so a difference is a finding. */
export async function readCommit(name: string): Promise<{ commit: Commit; findings: string[] }> {
  const plainly = { GIT_NO_REPLACE_OBJECTS: '1' };
  const sha = String(
    await gitWith(plainly, '.', 'rev-parse', '--verify', '--end-of-options', `${name}^{commit}`),
  ).trim();
  const bytes = await gitWith(plainly, '.', 'cat-file', 'commit', sha);
  const object = Buffer.concat([Buffer.from(`commit ${bytes.length}\0`), bytes]);
  const actual = hash(sha.length === 40 ? 'sha1' : 'sha256', object);
  const tree = /^tree ([0-9a-f]+)\n/.exec(bytes.toString('latin1'))?.[1] ?? '';
  const findings = actual === sha ? [] : [`The commit in the repository has the id ${actual} instead of ${sha}.`];
  return { commit: { sha, tree }, findings };
}

/** Returns the envelopes in the git note of the commit, which has one per line. The result is empty if the commit has no note. */
export async function noteOf(sha: string): Promise<string[]> {
  const note = await gitBytes('.', 'notes', `--ref=${notes}`, 'show', sha).catch(() => null);
  return String(note ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

async function readNote({ sha }: Commit): Promise<string[]> {
  const texts = await noteOf(sha);
  if (texts.length > 0) return texts;
  throw new UserError(
    `${sha} has no attestation in its notes: run "git fetch origin ${notes}:${notes}", or name a file with --envelope.`,
  );
}

export async function readKeys({ keys: file, url }: VerifyOptions): Promise<Keys> {
  const source = file ?? `${await serviceUrl(url)}/.well-known/audit-keys.json`;
  const text = file === undefined ? await download(source) : await readFile(file, 'utf8');
  try {
    const { keys } = JSON.parse(text) as { keys: { id: string; algorithm: string; publicKey: string }[] };
    const found = keys.filter(({ algorithm }) => algorithm === 'ed25519');
    const bytes = found.map(({ id, publicKey }) => [id, Buffer.from(publicKey, 'base64')] as const);
    if (bytes.length > 0 && bytes.every(([, { length }]) => length === 32)) return new Map(bytes);
  } catch {
    // Text that is not JSON, and JSON without keys, gets the error below.
  }
  throw new UserError(`${source} is not a list of keys in the format of /.well-known/audit-keys.json.`);
}

async function download(address: string): Promise<string> {
  const response = await fetch(address);
  if (!response.ok) throw new UserError(`${address} answered ${response.status}.`);
  return response.text();
}

/** The lines of `aep attestations calls`. */
async function readCalls(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  try {
    return lines.map((line) => String(JSON.parse(line).entry));
  } catch {
    throw new UserError(`${file} is not a list of calls as "aep attestations calls" prints it.`);
  }
}

function describe({ predicate }: Statement): Record<string, string> {
  const { run, base, steps, commits, calls, approvals, reviews, cost, commit, signedAt } = predicate;
  const step = steps.find(({ id }) => id === commit.step);
  const version = step && step.agent.version !== null ? `, version ${step.agent.version}` : '';
  const harness = step && `${step.harness.name} ${step.harness.release ?? ''}`.trim();
  const rest = calls.isComplete ? '' : ', not all of them';
  const bounded = commits?.isComplete === false ? ', whose later commits are not attested' : '';
  const decisions = [
    ...approvals.map((one) => `${one.of} ${one.isApproved ? 'approved' : 'rejected'} by ${one.by}`),
    ...reviews.map(
      ({ by, verdict, gitCommit }) => `${verdict} by ${by ?? 'the reviewer'} at ${gitCommit?.slice(0, 12)}`,
    ),
  ];
  return {
    run: `${run.id} of ${run.repository}, branch ${run.branch}${bounded}`,
    base: `${base.gitCommit ?? 'unknown'} of ${base.branch ?? 'unknown'}`,
    agent: step ? `${step.agent.name}${version} (${step.role}), ${harness}, ${step.model}` : 'unknown',
    calls: `${calls.model} model, ${calls.tool} tool, ${calls.network} network${rest}; root ${calls.rootHash}`,
    decisions: decisions.join('; ') || 'none',
    cost: `${cost.usd.toFixed(4)} USD${cost.isComplete ? '' : ', at least'}`,
    signed: signedAt,
  };
}
