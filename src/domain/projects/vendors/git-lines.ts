// Lines of git's protocol (gitprotocol-common, pkt-line): four hexadecimal digits with the length, then the content; a length of 0 ends a
// section.
import { badGateway } from '#foundation/problem.ts';

export const pktLine = (text: string): Buffer => {
  const content = Buffer.from(`${text}\n`);
  return Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, '0')), content]);
};

/** The lines of all sections, without their line ends. @throws 502, retryable, for data that is not in this format */
export function readLines(answer: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < answer.length; ) {
    const digits = answer.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length < 0 || at + length > answer.length) throw badGateway('The source host returned an invalid response.');
    if (length > 4) lines.push(answer.subarray(at + 4, at + length));
    at += Math.max(4, length);
  }
  return lines;
}

const textOfLine = (line: Buffer): string => line.toString('utf8').replace(/\n$/, '');

/** The branches, tags and capabilities that a host announces before a push. */
export interface ServedRefs {
  /** The commit of each branch and tag. */
  refs: ReadonlyMap<string, string>;
  capabilities: ReadonlySet<string>;
}

export function servedIn(answer: Buffer): ServedRefs {
  const refs = new Map<string, string>();
  let capabilities: ReadonlySet<string> = new Set();
  for (const line of readLines(answer)) {
    const [named = '', offered] = textOfLine(line).split('\0');
    const [, sha, name] = /^([0-9a-f]{40,64}) (\S+)$/.exec(named) ?? [];
    if (offered !== undefined) capabilities = new Set(offered.trim().split(' '));
    if (sha && name) refs.set(name, sha);
  }
  return { refs, capabilities };
}

/**
 * Reason why the host rejects the push, with the output of its hooks; null when the push succeeded. @param isBanded Whether the report is
 * sent over side bands
 */
export function refusalIn(answer: Buffer, isBanded: boolean): string | null {
  const lines = readLines(answer);
  const band = (number: number) =>
    Buffer.concat(lines.filter((line) => line[0] === number).map((line) => line.subarray(1)));
  const report = (isBanded ? readLines(band(1)) : lines).map(textOfLine);
  const words = isBanded ? `${band(2)}${band(3)}`.split('\n').flatMap((line) => line.trim() || []) : [];
  const unpack = report.find((line) => line.startsWith('unpack '));
  const refused = report.find((line) => line.startsWith('ng '));
  const isMoved = unpack === 'unpack ok' && !refused && report.some((line) => line.startsWith('ok '));
  if (isMoved) return null;
  const reason = refused ? refused.split(' ').slice(2).join(' ') : (unpack ?? 'it gave no reason');
  return [reason, ...words].join('; ').slice(0, 2_000);
}
