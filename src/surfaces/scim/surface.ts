// SCIM 2.0 (RFC 7642 to 7644): the identity provider of an organization provisions its members (docs/directory.md). The bearer token
// determines the organization; users of other organizations are not found.
import type { Caller } from '#access/principal.ts';
import { scimBounds } from '#domain/organization/directory/bounds.ts';
import { type Exchange, readJson } from '#foundation/http/http.ts';
import { invalid, notFound } from '#foundation/problem.ts';
import { allowMethods, type CallerSettings, framed, identify } from '../frame.ts';
import { answerScim } from './answer.ts';
import { basePath, resourceTypes, schemaIds, schemas, serviceProviderConfig } from './documents.ts';
import { refuseScim, refuseScimError, ScimError } from './errors.ts';
import { choiceOf, queryOfBody, queryOfSearch } from './query.ts';
import { answerList, answerSearchOfAll, groupResources, type Resources, userResources } from './resources.ts';

const kinds: Readonly<Record<string, Resources>> = { Users: userResources, Groups: groupResources };

export function createScim(settings: CallerSettings) {
  async function handle(exchange: Exchange): Promise<void> {
    const [, ...steps] = exchange.path.slice(basePath.length).split('/');
    exchange.route = routeOf(steps);
    const caller = await identify(settings, exchange);
    await dispatch(exchange, caller, steps);
  }
  const owns = (path: string): boolean => path === basePath || path.startsWith(`${basePath}/`);
  return {
    name: 'scim',
    owns,
    handle: framed(handle, { report: settings.report, refuse: refuseScim, refuseOwn: refuseScimError }),
  };
}

/** The route without ids, for logs and the audit log. */
const routeOf = ([kind = '', id]: readonly string[]): string => {
  const known = /^(Users|Groups|ServiceProviderConfig|Schemas|ResourceTypes|Me|Bulk|\.search)$/.test(kind)
    ? kind
    : '{path}';
  const rest = id === undefined ? '' : id === '.search' ? '/.search' : '/{id}';
  return `${basePath}/${known}${rest}`;
};

async function dispatch(exchange: Exchange, caller: Caller, steps: readonly string[]): Promise<void> {
  const [kind = '', id, ...more] = steps;
  if (more.length > 0) throw notFound('path');
  if (kind === 'Me' || kind === 'Bulk') throw new ScimError(501, `/${kind} is not supported.`);
  if (Object.hasOwn(discovery, kind)) return answerDiscovery(exchange, discovery[kind]!, id);
  if (kind === '.search' && id === undefined) {
    allowMethods(exchange, 'POST');
    return answerSearchOfAll(exchange, caller, queryOfBody(await bodyOf(exchange)));
  }
  const resources = Object.hasOwn(kinds, kind) ? kinds[kind]! : undefined;
  if (!resources) throw notFound('path');
  if (id === undefined) return answerCollection(exchange, caller, resources);
  if (id === '.search') {
    allowMethods(exchange, 'POST');
    return answerList(exchange, caller, resources, queryOfBody(await bodyOf(exchange)));
  }
  return answerRecord(exchange, caller, resources, id);
}

async function answerCollection(exchange: Exchange, caller: Caller, resources: Resources): Promise<void> {
  allowMethods(exchange, 'GET', 'HEAD', 'POST');
  if (exchange.req.method !== 'POST') return answerList(exchange, caller, resources, queryOfSearch(exchange.search));
  return resources.create(exchange, caller, await bodyOf(exchange), choiceOf(exchange.search));
}

async function answerRecord(exchange: Exchange, caller: Caller, resources: Resources, id: string): Promise<void> {
  allowMethods(exchange, 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE');
  const choice = choiceOf(exchange.search);
  const { method } = exchange.req;
  if (method === 'PUT') return resources.replace(exchange, caller, id, await bodyOf(exchange), choice);
  if (method === 'PATCH') return resources.patch(exchange, caller, id, await bodyOf(exchange), choice);
  if (method === 'DELETE') return resources.remove(exchange, caller, id);
  return resources.show(exchange, caller, id, choice);
}

/** Reads the body of a request. @throws 400 for an empty body */
async function bodyOf(exchange: Exchange): Promise<unknown> {
  const body = await readJson(exchange, scimBounds.bodyBytes);
  if (body === undefined) throw invalid('The body is empty.');
  return body;
}

const discovery: Readonly<Record<string, () => object | { id: string }[]>> = {
  ServiceProviderConfig: serviceProviderConfig,
  Schemas: schemas,
  ResourceTypes: resourceTypes,
};

/**
 * Sends the discovery document with this id, or all documents of the requested kind. A request that filters the list of documents is
 * refused (RFC 7644, section 4).
 */
function answerDiscovery(exchange: Exchange, documents: () => object | { id: string }[], id: string | undefined): void {
  allowMethods(exchange, 'GET', 'HEAD');
  const all = documents();
  const found =
    id === undefined ? all : [all].flat().find((one) => 'id' in one && one.id === id.replaceAll(/%3a/gi, ':'));
  if (!found) throw notFound('document');
  if (!Array.isArray(found)) answerScim(exchange, 200, found);
  else if (new URLSearchParams(exchange.search).has('filter'))
    throw new ScimError(403, 'This endpoint does not support filters.');
  else {
    const { length } = found;
    const list = { schemas: [schemaIds.list], totalResults: length, startIndex: 1, itemsPerPage: length };
    answerScim(exchange, 200, { ...list, Resources: found });
  }
}
