// Connections to the vendors behind connectors: addresses, time and size limits, and the problems that their failures become. A
// vendor that is unreachable or limits our rate is a retryable problem; any other problem says what a person must correct.
import type { Row } from '#foundation/base-model.ts';
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import {
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  ResponseTooLarge,
  sendRequest,
} from '#foundation/outbound.ts';
import { badGateway, conflict, gatewayTimeout, Problem, upstreamBusy } from '#foundation/problem.ts';
import type { Integration, VendorKind } from '../integrations/model.ts';
import { credentialsOf, noteCredentials } from '../integrations/operations.ts';
import { connectorOf } from '../projects/connectors.ts';
import type { Project } from '../projects/model.ts';

/** For all calls of one operation together: ten concurrent dispatches of a batch end within their lease. */
const operationTimeoutMs = seconds(20);
const maxResponseBytes = 16 * 1024 * 1024;
/** How long no call is made to a vendor that limits our rate: without a `Retry-After`, and at most. */
export const vendorPauseMs = { default: minutes(1), max: hours(1) } as const;

/** Base addresses, without a trailing slash. */
export interface VendorAddresses {
  linear: string;
  github: string;
}

let bound: VendorAddresses | undefined;

/** Binds the addresses; called once at start. */
export function bindVendorAddresses(addresses: VendorAddresses): void {
  bound = addresses;
}

const names = { linear: 'Linear', github: 'GitHub' } as const satisfies Record<keyof VendorAddresses, string>;

/** A connection to a vendor for one operation: all its calls share one deadline. */
export interface VendorConnection {
  /** The vendor's name in messages. */
  name: string;
  kind: VendorKind;
  address: string;
  connector: Row<Integration>;
  credentials: string;
  signal: AbortSignal;
}

/** @throws 409 when the project has no such connector, or this one no credentials */
export async function connectVendor(
  project: Row<Project>,
  kind: VendorKind,
  vendor: keyof VendorAddresses,
): Promise<VendorConnection> {
  if (!bound) throw new Error('the addresses of the vendors are not bound');
  const name = names[vendor];
  const connector = await connectorOf(project, kind);
  if (connector.vendor !== vendor) throw conflict(`The project's ${kind} connector is not one to ${name}.`);
  const credentials = await credentialsOf(connector);
  return {
    name,
    kind,
    address: bound[vendor],
    connector,
    credentials,
    signal: AbortSignal.timeout(operationTimeoutMs),
  };
}

export type Call = Omit<OutboundRequest, 'signal' | 'maxBytes'> & { maxBytes?: number };

/** Returns the response whatever its status. @throws 502 and 504, retryable, without a response; ResponseTooLarge beyond `maxBytes` */
export async function call(connection: VendorConnection, path: string, request: Call): Promise<OutboundResponse> {
  const { name, address, connector, signal } = connection;
  try {
    const response = await sendRequest(address + path, { maxBytes: maxResponseBytes, ...request, signal });
    if (response.status === 401 || response.status < 300) await noteCredentials(connector, response.status !== 401);
    return response;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error instanceof ResponseTooLarge) throw request.maxBytes ? error : unexpectedAnswer(connection);
    throw signal.aborted ? gatewayTimeout(`${name} did not answer in time.`) : badGateway(`${name} is unreachable.`);
  }
}

/** The vendor's rate limit is exceeded: `after` in seconds, `until` in epoch milliseconds, where it names them. */
export function rateLimited({ name }: VendorConnection, { after, until }: { after?: number; until?: number }): Problem {
  const delayMs = after ? seconds(after) : until ? until - now() : 0;
  const rest = Math.min(delayMs > 0 ? delayMs : vendorPauseMs.default, vendorPauseMs.max);
  return upstreamBusy(`${name} limits the rate of requests.`, Math.ceil(rest / seconds(1)));
}

/** A number of a header; 0 when there is none. */
export const numberIn = (header: string | string[] | undefined): number => Number(header) || 0;

export const failed = ({ name }: VendorConnection, status: number): Problem =>
  badGateway(`${name} failed (status ${status}).`);

export const unexpectedAnswer = ({ name }: VendorConnection): Problem =>
  badGateway(`${name} returned an invalid response.`);

/** Not retryable: a person must replace the credentials. */
export const credentialsRefused = ({ name, kind }: VendorConnection): Problem =>
  conflict(`${name} rejected the credentials of the ${kind} connector: connect it again with valid ones.`);

/** Not retryable, with the vendor's own message where it has one; credentials in it are redacted. */
export function refused({ name, credentials }: VendorConnection, what: string, words?: string | null): Problem {
  const quote = words?.replaceAll(credentials, '[redacted]').replace(/\s+/g, ' ').trim().slice(0, 300);
  return conflict(`${name} rejected ${what}${quote ? `: ${quote}` : '.'}`);
}

/** Whether repeating the call is pointless. */
export const isFinal = (error: unknown): error is Problem => error instanceof Problem && !error.body.retryable;
