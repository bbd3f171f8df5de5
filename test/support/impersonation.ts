// REST and GraphQL over real HTTP for any caller that a test composes, including callers for whom no credential can be created, such
// as a person without a scope that every role includes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '#access/principal.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { schema } from '#schema.ts';
import { createGraphql } from '#surfaces/graphql/surface.ts';
import { createRest } from '#surfaces/rest/surface.ts';
import { type Ask, requestsTo } from './requests.ts';

export type Impersonation = Awaited<ReturnType<typeof openImpersonation>>;

/**
 * Starts a second HTTP server of the service on the database of the open world. A test chooses the caller of each request, and needs no
 * credential.
 */
export async function openImpersonation() {
  const callers: Caller[] = [];
  const settings = {
    schema,
    authenticate: async ({ req }: Exchange) => callers[Number(req.headers['x-caller'])]!,
    recheckCaller: async (_: Exchange, caller: Caller) => caller,
    meter: async () => {},
    report: (_: Exchange, error: unknown) => console.error(error),
  };
  const surfaces = [
    createRest({ ...settings, version: '0.0.0', beside: { paths: {}, schemas: {}, webhooks: {} } }),
    createGraphql(settings),
  ];
  const server = createServer((req, res) => {
    const [path = '', search = ''] = req.url!.split('?', 2);
    const exchange = { req, res, path, search, requestId: 'req_impersonation', address: '127.0.0.1' };
    void surfaces.find((surface) => surface.owns(path))!.handle(exchange);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    request: requestsTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    /** Headers of a request as this caller. */
    as: (caller: Caller): Ask => ({ headers: { 'x-caller': String(callers.push(caller) - 1) } }),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
