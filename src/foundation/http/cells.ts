// The cells of a platform: installations that serve different organizations and reach each other (docs/cells.md). Requests between them are
// signed with a shared secret. A signature is valid for one cell, one method and one URL, for one minute.
import { createHmac } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hours, minutes, now, seconds } from '../clock.ts';
import { refuseInTransaction } from '../postgres/database.ts';
import { upstreamUnavailable } from '../problem.ts';
import { digest, sameBytes } from '../secrets/secrets.ts';
import type { CellConfig } from '../settings/cell-settings.ts';

/** The header with the signed statement of a request between cells. */
export const cellHeader = 'x-aep-cell';
const validForMs = minutes(1);
/** Time limit for an answer to a question between cells. */
export const answerMs = seconds(5);
/** Time limit for sending the file of an organization to another cell, which imports and verifies it. */
export const arrivalMs = hours(6);
/** Maximum size of a question between cells. */
export const maxQuestionBytes = 16 * 1024 ** 2;
const maxAnswerBytes = 256 * 1024;
/**
 * Maximum number of connections to each cell. It is higher than the number of requests that may be forwarded to a cell at the same time
 * (surfaces/cells/forward.ts), so that a connection is always free for a request that this cell makes itself.
 */
const maxSockets = 1_500;

let bound: CellConfig | null = null;
/** Called once when the process starts, with the configuration of the cells; null means that the installation is standalone. */
export function bindCells(config: CellConfig | null): void {
  bound = config;
}

/** Name of this cell; null for a standalone installation. */
export const ownCell = (): string | null => bound?.name ?? null;
/** Names of the other cells. */
export const otherCells = (): string[] => [...(bound?.cells.keys() ?? [])].filter((name) => name !== bound?.name);
/** The cell that reserves slugs; null for a standalone installation. */
export const directoryCell = (): string | null => bound?.cells.keys().next().value ?? null;
/** The origin of a cell. @throws for an unknown name */
export function addressOfCell(name: string): string {
  const address = bound?.cells.get(name);
  if (!address) throw new Error(`${name} is not a cell: the setting CELLS lists the cells`);
  return address;
}

/** A 32-byte key for one purpose, which every cell can derive. */
export const cellSecretFor = (purpose: string): Buffer => createHmac('sha256', bound!.secret).update(purpose).digest();

/** The content of the signed header. */
export interface Statement {
  from: string;
  to: string;
  method: string;
  url: string;
  /** IP address of the client whose request is forwarded; null for a request that the sending cell makes itself. */
  client: string | null;
  /** Digest of the body of a question; null for a body of unknown content. */
  question: string | null;
}

const signatureOf = (purpose: string, text: string): Buffer => cellSecretFor(`sign ${purpose}\n${text}`);

/** A text that only cells can create and read. It is valid for one purpose and one minute. */
export function signForCells(purpose: string, content: object): string {
  const encoded = Buffer.from(JSON.stringify({ ...content, until: now() + validForMs })).toString('base64url');
  return `${encoded}.${signatureOf(purpose, encoded).toString('base64url')}`;
}

/**
 * Returns the content that a cell has signed with `signForCells`. Returns null if the signature was not made by a cell, was made for
 * another purpose, or has expired.
 */
export function readSigned<Content>(purpose: string, text: string): Content | null {
  const [encoded = '', presented = ''] = text.split('.');
  if (!bound || !sameBytes(Buffer.from(presented, 'base64url'), signatureOf(purpose, encoded))) return null;
  const content = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Content & { until: number };
  return content.until > now() && content.until <= now() + 2 * validForMs ? content : null;
}

/**
 * The signed statement that another cell sends in a header of its request. The statement names the sender, the recipient and the request.
 * Null for any other request.
 */
export function statementOfCell({ method, url, headers }: IncomingMessage): Statement | null {
  const header = headers[cellHeader];
  const statement = bound && typeof header === 'string' ? readSigned<Statement>('request', header) : null;
  if (!bound || !statement || !bound.cells.has(statement.from)) return null;
  return statement.to === bound.name && statement.method === method && statement.url === url ? statement : null;
}

export interface CellRequest {
  method: string;
  /** Path and query of the request. */
  url: string;
  headers: IncomingHttpHeaders;
  client: string | null;
  signal: AbortSignal;
  /** Maximum time in which neither side sends a byte. */
  silenceMs?: number;
  body?: Readable | string;
}

const agents = {
  'http:': new Agent({ keepAlive: true, maxSockets }),
  'https:': new TlsAgent({ keepAlive: true, maxSockets }),
};

/** Sends a request to a cell and returns the response with its body unread. @throws when the cell does not answer */
export function sendToCell(
  cell: string,
  { method, url, headers, client, signal, silenceMs, body }: CellRequest,
): Promise<IncomingMessage> {
  refuseInTransaction('a request to another cell');
  const address = new URL(addressOfCell(cell));
  const protocol = address.protocol as keyof typeof agents;
  const request = protocol === 'https:' ? httpsRequest : httpRequest;
  const question = typeof body === 'string' ? digest(body).toString('base64url') : null;
  const options = {
    method,
    // Clients choose this text, so it is not resolved as a reference: `//other.example/` would name another host.
    path: url,
    agent: agents[protocol],
    signal,
    headers: {
      ...headers,
      [cellHeader]: signForCells('request', { from: bound!.name, to: cell, method, url, client, question }),
    },
  };
  return new Promise((resolve, reject) => {
    const sent = request(address, options, resolve).on('error', reject);
    if (silenceMs) sent.setTimeout(silenceMs, () => sent.destroy(new Error(`the cell ${cell} has stopped responding`)));
    if (body === undefined || typeof body === 'string') sent.end(body);
    else pipeline(body, sent).catch(reject);
  });
}

export interface CellAnswer {
  status: number;
  body: unknown;
}

/** Whether a body is the one that the sender of the statement has signed. */
export const isSignedBody = ({ question }: Statement, body: string): boolean =>
  question === digest(body).toString('base64url');

/** Sends a request of the protocol between cells to a cell, and returns the response. @throws 503 when the cell does not answer */
export async function askCell(
  cell: string,
  path: string,
  question: object,
  signal = AbortSignal.timeout(answerMs),
): Promise<CellAnswer> {
  try {
    const response = await sendToCell(cell, {
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/json' },
      client: null,
      signal,
      body: JSON.stringify(question),
    });
    return { status: response.statusCode!, body: await jsonOfCell(response) };
  } catch (error) {
    const unavailable = upstreamUnavailable(`The cell ${cell} does not answer.`, 5);
    unavailable.cause = error;
    throw unavailable;
  }
}

/** Reads the JSON body of a response from another cell. */
export async function jsonOfCell(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error('the answer of the cell is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null');
}
