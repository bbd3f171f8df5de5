// The Fastify app of the servers fastify.ts and mercurius.ts, which looks up the caller first.
import { fastify } from 'fastify';
import { type Caller, callerOf } from './work.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

export function createApp() {
  const app = fastify();
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request, reply) => {
    const caller = await callerOf(request.headers.authorization);
    if (!caller) return reply.code(401).send({ title: 'Unauthenticated' });
    request.caller = caller;
  });
  return app;
}
