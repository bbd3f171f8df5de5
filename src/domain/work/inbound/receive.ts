// Receives an event of another system: verifies it, and stores it with the job that processes it. Everything else happens in the job, so
// that the sender gets an answer at once. A signed event whose body is refused is stored with the reason.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseJson, requireUtf8 } from '#foundation/http/http.ts';
import { invalid, Problem, tooLarge, unsupportedMediaType } from '#foundation/problem.ts';
import type { EventPayload } from '../../projects/vendors/event.ts';
import { wordIn } from '../../projects/vendors/event-reader.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { inboundPayload } from '../inbound-hooks/bounds.ts';
import type { InboundHook } from '../inbound-hooks/model.ts';
import { openHook } from '../inbound-hooks/operations.ts';
import { signatureOf } from '../inbound-hooks/signatures.ts';
import { receiveInChat } from './receive-chat.ts';
import { type ReceivedAnswer, storeDelivery } from './store.ts';

export interface ReceivedEvent {
  headers: IncomingHttpHeaders;
  /** The media type, lower case, without parameters. */
  type: string;
  /** Reads the body and passes each chunk to `each`; returns only the bytes within the maximum size of a payload. */
  read(each: (part: Buffer) => void): Promise<Buffer>;
}

/** Receives an event. @throws 401 for a wrong signature, 400, 413 or 415 for a body that is neither JSON nor a form, or exceeds the limits */
export async function receiveEvent(hookId: string, { headers, type, read }: ReceivedEvent): Promise<ReceivedAnswer> {
  const { hook, secret } = await openHook(hookId);
  const signature = signatureOf(hook, secret, headers);
  const hash = createHash('sha256');
  let bytes = 0;
  const body = await read((part) => {
    bytes += part.length;
    signature?.update(part);
    hash.update(part);
  });
  signature?.verify();
  const digest = hash.digest('hex');
  try {
    if (bytes > inboundPayload.bytes) throw tooLarge(inboundPayload.bytes);
    requireUtf8(headers);
    const { payload, json } = readPayload(type, body);
    signature?.verifyPayload?.(membersOf(payload));
    return await store(hook, headers, { payload, json, digest });
  } catch (error) {
    // A payload whose timestamp is too old (401) is not stored, because somebody else may have recorded it and sent it again.
    if (error instanceof Problem && error.status !== 401) {
      const sent = { event: nameWithoutPayload(hook, headers), externalId: digest, payload: null };
      await storeDelivery(hook, sent, headers, error.message);
    }
    throw error;
  }
}

interface VerifiedEvent {
  payload: unknown;
  /** The payload as the sender sent it. */
  json: string;
  /** SHA-256 digest of the body. */
  digest: string;
}

async function store(
  hook: InboundHook,
  headers: IncomingHttpHeaders,
  { payload, json, digest }: VerifiedEvent,
): Promise<ReceivedAnswer> {
  const chat = hook.vendor === 'webhook' ? undefined : moduleOf(hook.vendor).chat;
  if (chat) return receiveInChat(chat, hook, headers, membersOf(payload));
  const { event, isUsed } = nameOf(hook, headers, payload);
  const sent = { event, externalId: externalIdOf(hook, headers, digest), payload: isUsed ? json : null };
  const { deliveryId, isNew } = await storeDelivery(hook, sent, headers);
  const accepted = (hook.vendor !== 'webhook' && moduleOf(hook.vendor).events?.acceptedStatus) || 202;
  return { status: isNew ? accepted : 200, body: { received: true, deliveryId } };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readPayload(type: string, body: Buffer): { payload: unknown; json: string } {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
  const isForm = type === 'application/x-www-form-urlencoded';
  if (!isForm && type !== '' && type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw unsupportedMediaType.field('Content-Type', 'must be application/json or application/x-www-form-urlencoded');
  }
  const form = isForm ? Object.fromEntries(new URLSearchParams(text)) : null;
  // Some vendors send a form in which the field `payload` contains the JSON.
  const json = form ? (form.payload ?? JSON.stringify(form)) : text;
  const payload = parseJson(json);
  if (payload === undefined) throw invalid('The body is not valid JSON.');
  if (depthOf(json) > inboundPayload.depth) {
    throw invalid(`The body has more than ${inboundPayload.depth} levels of arrays and objects.`);
  }
  return { payload, json };
}

/** Number of levels of arrays and objects in a JSON text, counted without recursion, because a deep text would overflow the stack. */
function depthOf(json: string): number {
  let [depth, deepest, isInString] = [0, 0, false];
  for (let i = 0; i < json.length; i++) {
    const char = json[i];
    if (char === '\\' && isInString) i++;
    else if (char === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, ++depth);
    else if (char === ']' || char === '}') depth--;
  }
  return deepest;
}

const header = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : null;
};

const membersOf = (payload: unknown): EventPayload =>
  typeof payload === 'object' && payload !== null ? (payload as EventPayload) : {};

function nameOf(
  { vendor }: InboundHook,
  headers: IncomingHttpHeaders,
  payload: unknown,
): { event: string; isUsed: boolean } {
  const members = membersOf(payload);
  if (vendor === 'webhook') return { event: wordIn(members.type) ?? wordIn(members.action) ?? 'event', isUsed: true };
  const { nameOf, isReadable } = moduleOf(vendor).events!;
  const event = nameOf(headers, members);
  return { event, isUsed: isReadable(event.split('.', 1)[0]!) };
}

/** The name of an event whose payload is unusable: the name in the headers, or `event` when the headers contain none. */
function nameWithoutPayload(hook: InboundHook, headers: IncomingHttpHeaders): string {
  try {
    return nameOf(hook, headers, {}).event;
  } catch {
    return 'event';
  }
}

/**
 * The id of an event: the sender's, else the digest of the body. Without such an id, anybody who has read a signed event could send it
 * again.
 */
function externalIdOf({ vendor, signature }: InboundHook, headers: IncomingHttpHeaders, digest: string): string {
  const own = vendor === 'webhook' || vendor !== signature ? null : moduleOf(vendor).events!.idHeader;
  const name = signature === 'standard' ? 'webhook-id' : own;
  return (name && header(headers, name)) ?? digest;
}
