// Reads the parameters of the token and revocation endpoints: form-encoded (RFC 6749 §3.2), or the same names as JSON.
import type { z } from 'zod';
import { oneResource } from '#domain/identity/oauth/authorization-request.ts';
import { invalidRequest } from '#domain/identity/oauth/errors.ts';
import { type Exchange, mediaType, readForm, readJson } from '#foundation/http/http.ts';
import { describeIssues } from '#graph/validation.ts';
import { bytes } from '#limits.ts';

/**
 * Reads the parameters of a record. An empty parameter counts as absent; a repeated parameter is rejected. @throws invalid_request,
 * invalid_target
 */
export async function readParameters<S extends z.ZodObject>(exchange: Exchange, record: S): Promise<z.output<S>> {
  const body = mediaType(exchange).endsWith('json') ? await fromJson(exchange) : await fromForm(exchange);
  const parsed = record.safeParse(body);
  if (!parsed.success) throw invalidRequest(describeIssues(parsed.error));
  return parsed.data;
}

async function fromForm(exchange: Exchange): Promise<Record<string, unknown>> {
  if (mediaType(exchange) !== 'application/x-www-form-urlencoded') {
    throw invalidRequest('Send the parameters as application/x-www-form-urlencoded (or as application/json).');
  }
  const form = await readForm(exchange, bytes.oauthBody);
  const body: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    if (name === 'resource') body.resource = sameResource(values);
    else if (values.length > 1) throw invalidRequest(`${name.slice(0, 100)}: must not be repeated.`);
    else if (values[0] !== '') body[name] = values[0];
  }
  return body;
}

async function fromJson(exchange: Exchange): Promise<Record<string, unknown>> {
  const body = await readJson(exchange, bytes.oauthBody);
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw invalidRequest('The body must be a JSON object.');
  }
  const filled = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ''));
  if (isTexts(filled.resource)) filled.resource = sameResource(filled.resource);
  return filled;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Only `resource` may be repeated (RFC 8707 §2), if all values are equivalent. */
function sameResource(values: string[]): string | undefined {
  oneResource(values);
  return values.find((value) => value !== '');
}
