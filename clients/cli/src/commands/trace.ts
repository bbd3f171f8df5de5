// Prints Agent Trace records (https://agent-trace.dev, version 0.1.0): which lines of a commit came from a mission, and
// from which model. Git tells which lines the commit has added, and the attestation of the commit tells where they came
// from.
import { hash } from 'node:crypto';
import { type Keys, type Statement, verifyAttestation } from '../attestation.ts';
import { git, gitWith } from '../checkout.ts';
import { exitCodes, plain, printError, printLine, toJson } from '../output.ts';
import { UserError } from '../session.ts';
import { noteOf, notes, readCommit, readKeys, type VerifyOptions } from './attestations.ts';

/** Prints one record a line, the oldest commit first. No record is printed for a commit whose attestation is not valid, and the exit code is 1. */
export async function trace(options: VerifyOptions, range: string): Promise<void> {
  const isRange = range.includes('..');
  const limits = isRange ? [] : ['--max-count=1'];
  const list = await git('.', 'rev-list', '--reverse', ...limits, '--end-of-options', range, '--');
  const shas = list.split('\n').filter((sha) => sha !== '');
  const keys = await readKeys(options);
  let records = 0;
  for (const sha of shas) {
    const statement = await readStatement(sha, keys);
    if (!statement) continue;
    records += 1;
    printLine(toJson(recordOf(sha, statement, await addedLines('.', sha))));
  }
  if (records > 0 || process.exitCode) return;
  throw new UserError(
    `The notes of ${range} contain no attestation: run "git fetch origin ${notes}:${notes}" to get the attestations of missions.`,
  );
}

/**
 * Returns the statement of the first valid attestation of the commit, or null if the commit has no valid attestation. Prints what is wrong with
 * each invalid attestation, and lets the command end with an error code.
 */
async function readStatement(sha: string, keys: Keys): Promise<Statement | null> {
  const texts = await noteOf(sha);
  if (texts.length === 0) return null;
  const { commit, findings } = await readCommit(sha);
  const verified = texts.map((text) => verifyAttestation(text, keys, commit, null));
  for (const finding of [...findings, ...verified.flatMap((one) => one.findings)]) {
    process.exitCode = exitCodes.error;
    printError(plain(`${sha}: ${finding}`));
  }
  if (findings.length > 0) return null;
  return verified.find((one) => one.findings.length === 0)?.statement ?? null;
}

interface Range {
  start_line: number;
  end_line: number;
}

/** The lines of each file that the commit has added or changed, counted from 1. A merge adds none: its lines came with other commits. */
export async function addedLines(folder: string, sha: string): Promise<Map<string, Range[]>> {
  const format = ['--patch', '--unified=0', '--no-renames', '--no-color', '--no-ext-diff', '--no-textconv', '--root'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
  const plainly = { GIT_NO_REPLACE_OBJECTS: '1' };
  const patch = await gitWith(plainly, folder, 'diff-tree', '--no-commit-id', ...format, ...prefixes, sha);
  const files = new Map<string, Range[]>();
  let ranges: Range[] = [];
  // Added lines may look like a header, so the lines of each hunk are counted.
  let inHunk = 0;
  for (const line of patch.toString().split('\n')) {
    if (inHunk > 0) {
      if (!line.startsWith('\\')) inHunk -= 1;
      continue;
    }
    const name = /^\+\+\+ (?:"b\/(.*)"|b\/(.*?))\t?$/.exec(line);
    if (name) {
      ranges = [];
      files.set(name[2] ?? unquote(name[1]!), ranges);
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (!hunk) continue;
    const [removed, start, added] = [Number(hunk[1] ?? 1), Number(hunk[2]), Number(hunk[3] ?? 1)];
    inHunk = removed + added;
    if (added > 0) ranges.push({ start_line: start, end_line: start + added - 1 });
  }
  return new Map([...files].filter(([, lines]) => lines.length > 0));
}

const escapes: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** Decodes a path that git has quoted: after a backslash, three octal digits are a byte, and a letter is an escape sequence as in C. */
const unquote = (path: string): string =>
  Buffer.from(
    Buffer.from(path)
      .toString('latin1')
      .replace(/\\([0-7]{3}|.)/g, (_, one: string) =>
        one.length === 3 ? String.fromCharCode(Number.parseInt(one, 8)) : (escapes[one] ?? one),
      ),
    'latin1',
  ).toString();

function recordOf(sha: string, { predicate }: Statement, files: Map<string, Range[]>) {
  const { platform, run, commit } = predicate;
  const step = predicate.steps.find(({ id }) => id === commit.step);
  const model = step && step.model !== 'none' ? step.model : null;
  const conversation = {
    url: `${platform}/v1/runs/${run.id}`,
    contributor: model ? { type: 'ai', model_id: modelId(model) } : { type: 'unknown' },
    related: [{ type: 'attestation', url: `${platform}/v1/attestations/${sha}` }],
  };
  return {
    version: '0.1.0',
    id: idOf(sha),
    timestamp: predicate.signedAt,
    vcs: { type: 'git', revision: sha },
    ...(step && { tool: { name: step.harness.name, version: step.harness.release ?? 'unknown' } }),
    files: [...files].map(([path, ranges]) => ({ path, conversations: [{ ...conversation, ranges }] })),
    metadata: {
      'agent-engineering-platform': {
        run: run.id,
        ...(step && { step: step.id, role: step.role, agent: step.agent.name, agentVersion: step.agent.version }),
      },
    },
  };
}

/** Derives a UUID from the commit, so that every call returns the same one (RFC 9562, version 8: 122 bits are freely chosen). */
function idOf(sha: string): string {
  const bytes = Buffer.from(hash('sha256', `agent-trace ${sha}`), 'hex').subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The identifier of models.dev, `vendor/model`; other models keep the name under which the mission used them. */
function modelId(model: string): string {
  if (model.startsWith('claude-')) return `anthropic/${model}`;
  return /^(gpt-|o\d|codex-)/.test(model) ? `openai/${model}` : model;
}
