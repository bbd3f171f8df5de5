// Connections to the vendors behind connectors: base URLs, time and size limits, and conversion of failures to problems. A vendor that is
// unreachable or limits the request rate is a retryable problem; any other problem says what a person must correct.
import type { ZodType } from 'zod';
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import {
  jsonOf,
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  ResponseTooLarge,
  sendRequest,
} from '#foundation/http/outbound.ts';
import { badGateway, conflict, gatewayTimeout, Problem, upstreamBusy } from '#foundation/problem.ts';
import { type Integration, type ProjectKind, profiles, type Vendor, type VendorKind } from '../integrations/model.ts';
import { credentialsOf, noteCredentials, pauseConnector } from '../integrations/operations.ts';
import { connectorOf } from '../projects/connectors.ts';
import type { Project } from '../projects/model.ts';
import { addressOf } from './addresses.ts';

/** Total time limit for all calls of one operation, so that ten concurrent dispatches of a batch end before their lease expires. */
export const operationTimeoutMs = seconds(20);
const maxResponseBytes = 16 * 1024 * 1024;
/** Pause of calls to a vendor after a rate limit: the default without `Retry-After`, and the maximum. */
export const vendorPauseMs = { default: minutes(1), max: hours(1) } as const;

/** A connection to a vendor for one operation: all its calls share one deadline. */
export interface VendorConnection {
  /** Name of the vendor, for error messages. */
  name: string;
  kind: VendorKind;
  vendor: Vendor;
  address: string;
  /** The connector; null while credentials are tried before they are stored. */
  connector: Integration | null;
  credentials: string;
  signal: AbortSignal;
}

/** Opens a connection with the stored credentials. @throws 409 when the connector has no credentials */
export const connectTo = async (connector: Integration, timeoutMs: number): Promise<VendorConnection> => ({
  ...trialConnection(connector, await credentialsOf(connector), timeoutMs),
  connector,
});

/** Opens a connection with credentials that are not stored. Whether the vendor accepts them is not recorded. */
export const trialConnection = (
  connector: Pick<Integration, 'vendor' | 'vendorKind' | 'baseUrl'>,
  credentials: string,
  timeoutMs: number,
): VendorConnection => ({
  name: profiles[connector.vendor].title,
  kind: connector.vendorKind,
  vendor: connector.vendor,
  address: addressOf(connector),
  connector: null,
  credentials,
  signal: AbortSignal.timeout(timeoutMs),
});

/**
 * Opens a connection to a vendor with the project's connector. @throws 409 when the project has no connector to this vendor, or the
 * connector has no credentials
 */
export async function connectVendor(project: Project, kind: ProjectKind, vendor: Vendor): Promise<VendorConnection> {
  const connector = await connectorOf(project, kind);
  if (connector.vendor !== vendor)
    throw conflict(`The project's ${kind} connector is not for ${profiles[vendor].title}.`);
  return connectTo(connector, operationTimeoutMs);
}

/** The end of a rate limit: `after` in seconds, `until` in epoch milliseconds; neither when the vendor does not report it. */
export interface RateLimit {
  after?: number;
  until?: number;
}

export type VendorCall = Omit<OutboundRequest, 'signal' | 'maxBytes'> & {
  maxBytes?: number;
  /** Reads a rate limit from the response; null when the response reports none. */
  limitIn?(response: OutboundResponse): RateLimit | null;
  /** If true, `call` leaves the recorded state of the credentials unchanged, whatever the status of the response is. */
  judgesNothing?: boolean;
};

/**
 * Returns the response with any status, except a rate limit, which pauses all calls of the connector. @throws 502 to 504, retryable, when
 * there is no response; 503 while the connector is paused; ResponseTooLarge beyond `maxBytes`
 */
export async function call(
  connection: VendorConnection,
  path: string,
  { limitIn, judgesNothing = false, ...request }: VendorCall,
): Promise<OutboundResponse> {
  const { name, address, connector, signal } = connection;
  const pausedUntil = connector?.pausedUntil ?? 0;
  if (pausedUntil > now()) throw limitsRate(connection, pausedUntil);
  let response: OutboundResponse;
  try {
    response = await sendRequest(address + path, { maxBytes: maxResponseBytes, ...request, signal });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error instanceof ResponseTooLarge) throw request.maxBytes ? error : unexpectedAnswer(connection);
    throw signal.aborted ? gatewayTimeout(`${name} did not answer in time.`) : badGateway(`${name} is unreachable.`);
  }
  const limit = limitIn?.(response);
  if (limit) {
    const until = endOf(limit);
    if (connector) await pauseConnector(connector.id, until);
    throw limitsRate(connection, until);
  }
  if (connector && !judgesNothing && (response.status === 401 || response.status < 300)) {
    await noteCredentials(connector, response.status !== 401);
  }
  return response;
}

export type SendCall = (connection: VendorConnection, path: string, request?: VendorCall) => Promise<OutboundResponse>;
/** Creates the problem for a response that is not a success. */
export type RefusalOf = (connection: VendorConnection, path: string, answered: OutboundResponse) => Problem;

/**
 * Returns a function that calls the REST API of a vendor, validates the JSON in the response, and returns it.
 * @throws Problems, including the problem that `refusalOf` creates for a response that is not a success
 */
export const openFetch =
  (send: SendCall, refusalOf: RefusalOf) =>
  async <T>(connection: VendorConnection, path: string, shape: ZodType<T>, request?: VendorCall): Promise<T> => {
    const answered = await send(connection, path, request);
    if (answered.status < 200 || answered.status > 299) throw refusalOf(connection, path, answered);
    const { success, data } = shape.safeParse(jsonOf(answered));
    if (!success) throw unexpectedAnswer(connection);
    return data;
  };

function endOf({ after, until }: RateLimit): number {
  const delayMs = after ? seconds(after) : until ? until - now() : 0;
  return now() + Math.min(delayMs > 0 ? delayMs : vendorPauseMs.default, vendorPauseMs.max);
}

const limitsRate = ({ name }: VendorConnection, until: number): Problem =>
  upstreamBusy(`${name} limits the rate of requests.`, Math.ceil((until - now()) / seconds(1)));

/** The number in a header; 0 when there is none. */
export const numberIn = (header: string | string[] | undefined): number => Number(header) || 0;

export const failed = ({ name }: VendorConnection, status: number): Problem =>
  badGateway(`${name} failed (status ${status}).`);

export const unexpectedAnswer = ({ name }: VendorConnection): Problem =>
  badGateway(`${name} returned an invalid response.`);

/** The vendor's own message, shortened, with credentials redacted; empty when there is none. */
const quote = ({ credentials }: VendorConnection, words: string | null | undefined): string =>
  words?.replaceAll(credentials, '[redacted]').replace(/\s+/g, ' ').trim().slice(0, 300) ?? '';

/** The problem for rejected credentials. It is not retryable: a person must replace them. */
export function credentialsRefused(connection: VendorConnection, words?: string | null): Problem {
  const { name, kind } = connection;
  const said = quote(connection, words);
  return conflict(`${name} rejected the credentials of the ${kind} connector${said && ` (${said})`}: replace them.`);
}

/** The problem for a call that the vendor refuses. It is not retryable. */
export function refusedBy(connection: VendorConnection, what: string, words?: string | null): Problem {
  const said = quote(connection, words);
  return conflict(`${connection.name} rejected ${what}${said ? `: ${said}` : '.'}`);
}

/** The problem for a call that the credentials of the connector do not allow. */
export const beyondCredentials = (connection: VendorConnection, words?: string | null): Problem =>
  refusedBy(
    connection,
    `the request, because the credentials of the ${connection.kind} connector do not allow it`,
    words,
  );

/** The problem for a status that means the same for every call of a REST API. */
export function problemOfStatus(connection: VendorConnection, status: number, words: string | null): Problem {
  if (status >= 500) return failed(connection, status);
  if (status === 401) return credentialsRefused(connection, words);
  if (status === 403) return beyondCredentials(connection, words);
  return refusedBy(connection, 'the request', words);
}

/** Whether the text can be one part of the path of a repository, in a URL of the vendor's API. */
export const isRepositoryName = (part: string): boolean => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part);

/** Whether the error is not retryable, so that a repeated call would fail again. */
export const isFinal = (error: unknown): error is Problem => error instanceof Problem && !error.body.retryable;
