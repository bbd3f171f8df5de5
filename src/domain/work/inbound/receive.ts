// Takes an event of another system: verifies it, and writes it with the job that processes it. Everything else happens in the job, so
// that the sender is answered at once.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { now } from '#foundation/clock.ts';
import { parseJson } from '#foundation/http/http.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { invalid, unsupportedMediaType } from '#foundation/problem.ts';
import { eventVendors } from '../../projects/integrations/model.ts';
import type { EventPayload } from '../../projects/vendors/event.ts';
import { wordIn } from '../../projects/vendors/event-reader.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { inboundPayload } from '../inbound-hooks/bounds.ts';
import { InboundHook } from '../inbound-hooks/model.ts';
import { openHook } from '../inbound-hooks/operations.ts';
import { verifySignature } from '../inbound-hooks/signatures.ts';
import { InboundDelivery } from './model.ts';

export interface ReceivedEvent {
  headers: IncomingHttpHeaders;
  /** The media type, lower case, without parameters. */
  type: string;
  body: Buffer;
}

/**
 * Returns the id of the delivery, or that of the earlier one for an event that was delivered before.
 * @throws 401 for a signature that does not fit, 400 for a body that is not JSON, a form, or within its bounds
 */
export async function receiveEvent(
  hookId: string,
  received: ReceivedEvent,
): Promise<{ deliveryId: string; isNew: boolean }> {
  const { hook, secret } = await openHook(hookId);
  verifySignature(hook, secret, received.headers, received.body);
  const { payload, json } = readPayload(received);
  const { event, isUsed } = nameOf(hook, received.headers, payload);
  const at = now();
  const delivery = {
    id: newId('inboundDelivery'),
    orgId: hook.orgId,
    hookId: hook.id,
    externalId: externalIdOf(hook, received),
    event,
    title: null,
    payload: isUsed ? json : null,
    headers: headersToKeep(hook, received.headers),
    status: 'received' as const,
    reason: null,
    outcomes: [],
    answerProblems: null,
    redeliveryOf: null,
    receivedAt: at,
    processedAt: null,
    createdAt: at,
  };
  const isNew = await transaction(async (trx) => {
    if (!(await InboundDelivery.insertNew(trx, { ...delivery, outcomes: '[]' as never }, ['hookId', 'externalId'])))
      return false;
    await InboundHook.patch(trx, { id: hook.id }, { lastDeliveryAt: at });
    await enqueue(trx, 'inbound event', { deliveryId: delivery.id });
    return true;
  });
  if (isNew) return { deliveryId: delivery.id, isNew };
  const { id } = await InboundDelivery.get({ hookId: hook.id, externalId: delivery.externalId });
  return { deliveryId: id, isNew };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readPayload({ type, body }: ReceivedEvent): { payload: unknown; json: string } {
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
  // Some vendors send a form with the JSON in one member.
  const json = form ? (form.payload ?? JSON.stringify(form)) : text;
  const payload = parseJson(json);
  if (payload === undefined) throw invalid('The body is not valid JSON.');
  if (depthOf(json) > inboundPayload.depth) {
    throw invalid(`The body has more than ${inboundPayload.depth} levels of arrays and objects.`);
  }
  return { payload, json };
}

/** Number of levels of arrays and objects in a JSON text, counted without recursion, which a deep text would exhaust. */
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

/** Headers that a person may read: those that authorize a request are left out. */
function headersToKeep(hook: Row<InboundHook>, headers: IncomingHttpHeaders): Record<string, string> {
  const secret = new Set(['authorization', 'proxy-authorization', 'cookie', 'webhook-signature']);
  for (const vendor of eventVendors) for (const name of moduleOf(vendor).events!.secretHeaders) secret.add(name);
  if (hook.signatureHeader) secret.add(hook.signatureHeader.toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      secret.has(name) || value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
}

const header = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : null;
};

function nameOf(
  { vendor }: Row<InboundHook>,
  headers: IncomingHttpHeaders,
  payload: unknown,
): { event: string; isUsed: boolean } {
  const members = (typeof payload === 'object' && payload !== null ? payload : {}) as EventPayload;
  if (vendor === 'webhook') return { event: wordIn(members.type) ?? wordIn(members.action) ?? 'event', isUsed: true };
  const { nameOf, isReadable } = moduleOf(vendor).events!;
  const event = nameOf(headers, members);
  return { event, isUsed: isReadable(event.split('.', 1)[0]!) };
}

/** Without an id of the sender, equal bodies are one event: a reader of one could otherwise send it again. */
function externalIdOf({ vendor, signature }: Row<InboundHook>, { headers, body }: ReceivedEvent): string {
  const own = vendor === 'webhook' || vendor !== signature ? null : moduleOf(vendor).events!.idHeader;
  const name = signature === 'standard' ? 'webhook-id' : own;
  return (name && header(headers, name)) ?? createHash('sha256').update(body).digest('hex');
}
