// The platform's interface for a runtime: GraphQL mutations, and signed URLs for bytes. A call without a response is repeated: every report
// is identified (by a lease, a key, a sequence number), so that a repetition changes nothing.
import { createWriteStream } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunLease } from '../contract.ts';
import {
  createArtifactUpload,
  harnessDemand,
  type Operation,
  type RunMcpCommandsQuery,
  type RunModelsQuery,
  runMcpCommands,
  runMcpServers,
  runModels,
  runtimeOrders,
} from '../generated/operations.ts';
import type { Mask } from '../text.ts';
import { directly } from './via.ts';

/** A request that the platform refused: `code` is `lease_lost`, `unauthenticated`, `invalid_request`, … */
export class RequestRejected extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Error of a call to which the platform returned no usable response within the time for retries. */
export class PlatformUnreachable extends Error {}

/**
 * How many milliseconds a call to an unreachable platform is retried, in general and while the runner shuts down. After ten minutes without
 * a call, the platform considers a runtime lost; but the lease can still be renewed until another runtime claims the run.
 */
const retryMs = { running: 9 * 60_000, stopping: 2_000 };

/** A model connector of an organization. */
export type Connector = RunModelsQuery['answer']['connectors'][number];

/** An MCP server that the runner starts. */
export type McpCommand = RunMcpCommandsQuery['answer'][number];

export type Connection = ReturnType<typeof connect>;
/** The connection over which a mission reports to the platform, and the mask that hides the mission's secrets in these reports. */
export interface Platform extends Connection {
  mask: Mask;
  /** Adds values that are masked from now on. */
  conceal(values: readonly string[]): void;
}

interface Clock {
  now(): number;
  wait(ms: number): Promise<unknown>;
}

export function connect(
  url: string,
  token: string,
  stopping: AbortSignal,
  clock: Clock = { now: Date.now, wait },
  via = directly,
) {
  const { again, isAway } = createRetries(stopping, clock);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  /** Sends a mutation with its one argument. Retryable errors are retried, unless `once` is set. */
  const mutate = <Answer, Input>(
    operation: Operation<{ answer: Answer }, { input: Input }>,
    input: Input,
    once = false,
  ): Promise<Answer> => ask(operation, { input }, once);

  /** The MCP servers for the agent of the current step, with their credentials. */
  const mcpServers = async (lease: RunLease) =>
    (await ask(runMcpServers, lease)).map((server) => ({ ...server, url: via.platform(server.url) }));
  /** The MCP servers that run next to the agent of the current step, with their credentials. */
  const mcpCommands = (lease: RunLease) => ask(runMcpCommands, lease);
  /** The model connectors of the organization, with their keys, which only the gateway may see. */
  const models = (lease: RunLease) => ask(runModels, lease);
  /** Harnesses that missions need, for a runner that installs them. */
  const demand = () => ask(harnessDemand, {}, true);
  /** Asks whether people want the runtime to claim no more runs, and which version of the runner the platform has released. */
  const orders = (runtime: string) => ask(runtimeOrders, { runtime }, true);

  const ask = <Answer, Variables>(
    { text: query }: Operation<{ answer: Answer }, Variables>,
    variables: Variables,
    once = false,
  ): Promise<Answer> => again(once, () => send(via.platform(`${url}/graphql`), headers, { query, variables }));

  /** Returns the key of the uploaded content. Each attempt has a new URL, and an aborted attempt leaves nothing behind. */
  const upload = (lease: RunLease, name: string, file: FileHandle): Promise<string> =>
    again(false, async () => {
      const address = await mutate(createArtifactUpload, lease);
      const response = await put(via.host(address.uploadUrl), file);
      if (response.ok) return address.contentKey;
      const { description } = await response.json();
      if (response.status >= 500) throw new Error(description);
      throw new RequestRejected(String(response.status), `${name}: ${description}`);
    });

  /** Downloads the content into a new file. Returns false when it no longer exists. */
  const download = (address: string, file: string): Promise<boolean> =>
    again(false, async () => {
      const response = await fetch(via.host(address), { signal: AbortSignal.timeout(10 * 60_000) });
      if ([403, 404].includes(response.status)) return false;
      await save(response, file);
      return true;
    });

  const { authorization } = headers;
  return { url, via, isAway, mutate, upload, download, mcpServers, mcpCommands, models, demand, orders, authorization };
}

async function put(address: string, file: FileHandle): Promise<Response> {
  const bytes = (await file.stat()).size;
  // The file may still grow: exactly the announced bytes are sent.
  const range = { start: 0, end: bytes - 1, autoClose: false };
  const body = bytes > 0 ? (Readable.toWeb(file.createReadStream(range)) as BodyInit) : '';
  const headers = { 'content-length': String(bytes) };
  return fetch(address, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit);
}

async function save(response: Response, file: string): Promise<void> {
  if (!response.ok || !response.body) throw new Error(`the platform answered ${response.status}`);
  await rm(file, { force: true });
  await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(file, { flags: 'wx' }));
}

/** Sends one operation, once. @throws RequestRejected unless a later try may succeed */
async function send<Answer>(url: string, headers: Record<string, string>, operation: object): Promise<Answer> {
  const body = JSON.stringify(operation);
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) });
  const answer = await response.json();
  const problem = answer.errors?.[0]?.extensions?.problem ?? (response.ok ? undefined : answer);
  // `internal`: a failure of the platform, which may be temporary.
  if (problem && !problem.retryable && problem.code !== 'internal' && response.status < 500)
    throw new RequestRejected(problem.code, problem.description);
  if (!answer.data) throw new Error(problem?.description ?? `the platform answered ${response.status}`);
  return answer.data.answer;
}

function createRetries(stopping: AbortSignal, clock: Clock) {
  let retrying = 0;
  return {
    /** Whether calls wait until the platform can be reached again. */
    isAway: () => retrying > 0,
    async again<T>(once: boolean, call: () => Promise<T>): Promise<T> {
      const since = clock.now();
      let hasFailed = false;
      try {
        for (let pause = 250; ; pause = Math.min(pause * 2, 5_000)) {
          try {
            return await call();
          } catch (error) {
            if (error instanceof RequestRejected) throw error;
            const over = since + (stopping.aborted ? retryMs.stopping : retryMs.running);
            if (once || clock.now() + pause > over)
              throw new PlatformUnreachable((error as Error).message, { cause: error });
          }
          if (!hasFailed) retrying++;
          hasFailed = true;
          await clock.wait(pause);
        }
      } finally {
        if (hasFailed) retrying--;
      }
    },
  };
}
