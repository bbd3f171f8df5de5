// Speaking with the vendors behind connectors: where they are, in which time and size they must answer, and what becomes of their
// failures. Whoever is away or wants us to wait makes a retryable problem; any other says what a person has to do.
import { now, seconds } from '#foundation/clock.ts';
import { type Answered, AnswerTooLarge, ask, OutboundFault, type Question } from '#foundation/outbound.ts';
import { badGateway, conflict, gatewayTimeout, Problem, upstreamBusy } from '#foundation/problem.ts';
import { vendorCalls, vendorRest } from '#limits.ts';
import type { Project } from '../projects/model.ts';
import type { VendorKind } from './model.ts';
import { connectorOf, credentialsOf } from './operations.ts';

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

/** A connection to the vendor for one verb: all its calls share the time. */
export interface Line {
  /** As a sentence says it. */
  name: string;
  kind: VendorKind;
  address: string;
  credentials: string;
  signal: AbortSignal;
}

/** @throws 409 when the project has no such connector, or this one no credentials */
export async function openLine(project: Project, kind: VendorKind, vendor: keyof VendorAddresses): Promise<Line> {
  if (!bound) throw new Error('the addresses of the vendors are not bound');
  const name = names[vendor];
  const connector = await connectorOf(project, kind);
  if (connector.vendor !== vendor) throw conflict(`The project's ${kind} connector is not one to ${name}.`);
  const credentials = await credentialsOf(connector);
  return { name, kind, address: bound[vendor], credentials, signal: AbortSignal.timeout(vendorCalls.timeout) };
}

export type Call = Omit<Question, 'signal' | 'maxBytes'> & { maxBytes?: number };

/** Any status is an answer. @throws 502 and 504, retryable, when there is none; AnswerTooLarge where `maxBytes` says how large */
export async function call(line: Line, path: string, question: Call): Promise<Answered> {
  const { name, address, signal } = line;
  try {
    return await ask(address + path, { maxBytes: vendorCalls.bytes, ...question, signal });
  } catch (error) {
    if (!(error instanceof OutboundFault)) throw error;
    if (error instanceof AnswerTooLarge) throw question.maxBytes ? error : strange(line);
    throw signal.aborted
      ? gatewayTimeout(`${name} did not answer in time.`)
      : badGateway(`${name} can not be reached.`);
  }
}

/** The vendor wants us to wait; so long, or until then, as far as it says. */
export function busy({ name }: Line, { after, until }: { after?: number; until?: number }): Problem {
  const said = after ? seconds(after) : until ? until - now() : 0;
  const rest = Math.min(said > 0 ? said : vendorRest.unsaid, vendorRest.max);
  return upstreamBusy(`${name} wants fewer requests.`, Math.ceil(rest / seconds(1)));
}

/** A number of a header; 0 when there is none. */
export const numberIn = (header: string | string[] | undefined): number => Number(header) || 0;

export const failed = ({ name }: Line, status: number): Problem => badGateway(`${name} failed (status ${status}).`);

export const strange = ({ name }: Line): Problem => badGateway(`${name} gave an answer that we do not understand.`);

/** Not retryable: says what a person has to do. */
export const credentialsRefused = ({ name, kind }: Line): Problem =>
  conflict(`${name} refuses the credentials of the ${kind} connector: connect it again with valid ones.`);

/** Not retryable, in the vendor's own words as far as there are some. Should it quote our credentials, these are left out. */
export function refused({ name, credentials }: Line, what: string, words?: string | null): Problem {
  const quote = words?.replaceAll(credentials, '[redacted]').replace(/\s+/g, ' ').trim().slice(0, 300);
  return conflict(`${name} refuses ${what}${quote ? `: ${quote}` : '.'}`);
}

/** Whether asking again does not help. */
export const isFinal = (error: unknown): error is Problem => error instanceof Problem && !error.body.retryable;
