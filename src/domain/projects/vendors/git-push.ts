// Pushes the commits of a git bundle to a repository. The pack in the bundle is sent in git's own protocol (gitprotocol-pack). A repository at
// a source host receives the pack over HTTP (gitprotocol-http). If the repository is a folder on this machine, the git program receives the
// pack. A push succeeds only if the branch is still at an expected commit, so a repeated push changes nothing.
import { execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { minutes } from '#foundation/clock.ts';
import { openResponse, readUpTo } from '#foundation/http/outbound.ts';
import { badGateway, conflict, type Problem } from '#foundation/problem.ts';
import { pktLine, refusalIn, type ServedRefs, servedIn } from './git-lines.ts';
import type { RepositoryAccess } from './source-host.ts';

export interface PushedPack {
  branch: string;
  /** The commit that the branch will have after the push. */
  headSha: string;
  /** Allowed commits of the branch before the push; null in the list allows a missing branch. */
  expected: readonly (string | null)[];
  /** Opens the bundle; null when its content no longer exists. */
  open(): Promise<{ content: Readable; sizeBytes: number } | null>;
}

const timeoutMs = minutes(2);
const maxAnswerBytes = 32 * 1024 * 1024;

/** Connection to `git receive-pack`. */
interface Transport {
  advertise(): Promise<Buffer>;
  /**
   * Sends the command and the pack to the repository, and returns its response.
   * @param body The command and the pack, together `length` bytes
   */
  receive(body: AsyncIterable<Uint8Array>, length: number): Promise<Buffer>;
}

/**
 * Pushes the pack, unless the branch already has the commit.
 * @throws 409 when the branch is at another commit, or when the host refuses the push; a retryable 502 when the host fails or cannot be reached
 */
export async function pushPack(access: RepositoryAccess, pushed: PushedPack): Promise<void> {
  const { branch, headSha, expected } = pushed;
  const transport = path.isAbsolute(access.url) ? ofFolder(access.url) : overHttp(access);
  const ref = `refs/heads/${branch}`;
  const served = servedIn(await transport.advertise());
  const present = served.refs.get(ref) ?? null;
  if (present === headSha) return;
  if (!expected.includes(present)) throw moved(branch, present);
  const bundle = await pushed.open();
  if (!bundle)
    throw conflict('The commits are no longer stored: continue the mission, so that its agent pushes them again.');
  const command = commandOf(served, present ?? '0'.repeat(headSha.length), headSha, ref);
  const { header, pack } = await packOf(bundle.content);
  const length = command.length + bundle.sizeBytes - header;
  const answer = await transport.receive(chained(command, pack), length);
  const refusal = refusalIn(answer, served.capabilities.has('side-band-64k'));
  if (refusal) throw conflict(`The source host refused the push to ${branch}: ${refusal}`);
}

const advice = 'Continue the mission, so that its agent works on the newest commit.';
const moved = (branch: string, present: string | null): Problem =>
  conflict(
    present
      ? `Somebody pushed to ${branch} after the agent began, and the branch is now at ${present}. ${advice}`
      : `Somebody deleted ${branch} after the agent began. ${advice}`,
  );

function commandOf({ capabilities }: ServedRefs, old: string, head: string, ref: string): Buffer {
  const wanted = ['report-status', 'side-band-64k', 'ofs-delta'].filter((name) => capabilities.has(name));
  if (head.length === 64) wanted.push('object-format=sha256');
  return Buffer.concat([pktLine(`${old} ${head} ${ref}\0 ${wanted.join(' ')}`), Buffer.from('0000')]);
}

/** Maximum number of bytes in the header of a bundle, which precedes the pack. */
const maxHeader = 1024 * 1024;

/** Separates a bundle into its header and its pack: the header is a list of commits and an empty line (gitformat-bundle). */
async function packOf(content: Readable): Promise<{ header: number; pack: AsyncIterable<Uint8Array> }> {
  const chunks = content[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const end = head.indexOf('\n\n');
    if (end >= 0) return { header: end + 2, pack: rest(head.subarray(end + 2), chunks) };
    const next = await chunks.next();
    if (next.done || head.length > maxHeader)
      throw conflict('The stored commits cannot be read: they are not a git bundle.');
    head = Buffer.concat([head, next.value]);
  }
}

async function* rest(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

async function* chained(first: Buffer, more: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* more;
}

function overHttp({ url, username, password }: RepositoryAccess): Transport {
  const authorization = `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`;
  const type = (what: string) => `application/x-git-receive-pack-${what}`;
  const send = async (at: string, request: Omit<Parameters<typeof openResponse>[1], 'signal'>): Promise<Buffer> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { authorization, ...request.headers };
    try {
      const response = await openResponse(url + at, { ...request, headers, signal });
      const chunks: Buffer[] = [];
      for await (const chunk of readUpTo(maxAnswerBytes, response)) chunks.push(chunk);
      const status = response.statusCode!;
      if (status === 200) return Buffer.concat(chunks);
      if (status >= 500 || status === 429) throw badGateway(`The source host failed (status ${status}).`);
      throw conflict(`The source host refused the push with these credentials (status ${status}).`);
    } catch (error) {
      if (error instanceof Error && error.name === 'OutboundError') throw badGateway('The source host is unreachable.');
      throw error;
    }
  };
  return {
    advertise: () => send('/info/refs?service=git-receive-pack', {}),
    receive: (content, length) =>
      send('/git-receive-pack', {
        method: 'POST',
        headers: { 'content-type': type('request'), accept: type('result'), 'content-length': String(length) },
        content,
      }),
  };
}

function ofFolder(folder: string): Transport {
  const args = ['-c', `safe.directory=${folder}`, 'receive-pack', '--stateless-rpc'];
  return {
    advertise: () =>
      new Promise((resolve, reject) => {
        const options = { encoding: 'buffer', timeout: timeoutMs, maxBuffer: maxAnswerBytes } as const;
        execFile('git', [...args, '--advertise-refs', folder], options, (error, output) =>
          error ? reject(badGateway('git cannot write to the repository.')) : resolve(output),
        );
      }),
    async receive(content) {
      const git = spawn('git', [...args, folder], { timeout: timeoutMs, stdio: ['pipe', 'pipe', 'ignore'] });
      const sent = pipeline(Readable.from(content), git.stdin);
      const output: Buffer[] = [];
      for await (const chunk of git.stdout) output.push(chunk);
      // A repository that refuses the command does not read the pack, which makes the write fail. The response contains the reason.
      await sent.catch(() => {});
      return Buffer.concat(output);
    },
  };
}
