// The verification of an attestation without the service: the signature of its envelope (DSSE), and the commit, tree and calls that the
// statement is about (docs/attestations.md).
import { verify } from 'node:crypto';
import { ed25519Key, leafHash, openTree } from './audit-notes.ts';

/** Public keys of 32 bytes by id. */
export type Keys = ReadonlyMap<string, Buffer>;

export interface Commit {
  sha: string;
  tree: string;
}

interface Envelope {
  payloadType: string;
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

/** The members of a statement that this program reads. */
export interface Statement {
  _type: string;
  predicateType: string;
  subject: { digest: Record<string, string> }[];
  predicate: {
    platform: string;
    run: { id: string; repository: string; branch: string | null };
    base: { branch: string | null; gitCommit: string | null };
    steps: {
      id: string;
      role: string;
      agent: { name: string; version: number | null };
      harness: { name: string; release: string | null };
      model: string;
    }[];
    /** Absent from statements that were signed before runs had a maximum of commits. */
    commits?: { isComplete: boolean };
    calls: { size: number; rootHash: string; model: number; tool: number; network: number; isComplete: boolean };
    approvals: { of: string; isApproved: boolean; by: string | null; at: string }[];
    reviews: { by: string | null; verdict: string; gitCommit: string | null; at: string }[];
    cost: { usd: number; isComplete: boolean };
    commit: { step: string };
    signedAt: string;
  };
}

export interface Verified {
  /** The statement; null unless its signature is valid. */
  statement: Statement | null;
  /** Findings as sentences; empty for a valid attestation of the commit. */
  findings: string[];
}

const statementType = 'https://in-toto.io/Statement/v1';
const predicateType = 'urn:agent-engineering-platform:mission-commit:v1';

/**
 * Verifies an attestation of a commit. @param text The envelope as JSON. @param calls Entries of the calls of the run,
 * in order; null means that they are not checked
 */
export function verifyAttestation(text: string, keys: Keys, commit: Commit, calls: readonly string[] | null): Verified {
  const envelope = readEnvelope(text);
  if (!envelope) return { statement: null, findings: ['The attestation is not an envelope (DSSE).'] };
  const refusal = checkSignature(envelope, keys);
  if (refusal) return { statement: null, findings: [refusal] };
  const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as Statement;
  if (statement._type !== statementType || statement.predicateType !== predicateType)
    return { statement: null, findings: [`The statement is not about a commit: ${statement.predicateType}.`] };
  const findings = [...checkSubject(statement, commit), ...(calls ? checkCalls(statement, calls) : [])];
  return { statement, findings };
}

/** The envelope, alone or as a member of the record that the service returns. */
function readEnvelope(text: string): Envelope | null {
  try {
    const read = JSON.parse(text);
    const { payloadType, payload, signatures } = read.envelope ?? read;
    const isWhole =
      typeof payloadType === 'string' &&
      typeof payload === 'string' &&
      Array.isArray(signatures) &&
      signatures.length > 0;
    return isWhole ? { payloadType, payload, signatures } : null;
  } catch {
    return null;
  }
}

/** The reason why no known key has signed the envelope; null if one has. */
function checkSignature({ payloadType, payload, signatures }: Envelope, keys: Keys): string | null {
  const bytes = Buffer.from(payload, 'base64');
  const begin = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${bytes.length} `;
  const signed = Buffer.concat([Buffer.from(begin), bytes]);
  const known = signatures.filter(({ keyid }) => keys.has(keyid));
  if (known.length === 0)
    return `The attestation is signed by an unknown key: ${signatures.map(({ keyid }) => String(keyid)).join(', ')}.`;
  const isValid = known.some(({ keyid, sig }) =>
    verify(null, signed, ed25519Key(keys.get(keyid)!), Buffer.from(String(sig), 'base64')),
  );
  return isValid ? null : 'The signature is not valid: the statement or the signature was changed.';
}

function checkSubject({ subject }: Statement, { sha, tree }: Commit): string[] {
  const [commits, trees] = (['gitCommit', 'gitTree'] as const).map((name) =>
    subject.flatMap(({ digest }) => digest[name] ?? []),
  );
  const findings: string[] = [];
  if (!commits!.includes(sha)) findings.push(`The statement is about another commit: ${commits!.join(', ')}.`);
  if (!trees!.includes(tree)) findings.push(`The statement is about another tree: ${trees!.join(', ')}.`);
  return findings;
}

/** A run may have made further calls since the statement was signed. */
function checkCalls({ predicate: { calls } }: Statement, entries: readonly string[]): string[] {
  if (entries.length < calls.size)
    return [`${calls.size - entries.length} of the ${calls.size} calls that the statement counts are missing.`];
  const tree = openTree();
  for (const entry of entries.slice(0, calls.size)) tree.add(leafHash(entry));
  const root = Buffer.from(tree.root(), 'base64').toString('hex');
  return root === calls.rootHash
    ? []
    : [
        `A call was changed, added or left out: the Merkle root of the calls is ${root}, but the statement has ${calls.rootHash}.`,
      ];
}
