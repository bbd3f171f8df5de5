// Serves the schema of the bench with Mercurius on Fastify. As the documentation of Mercurius recommends for speed, an
// operation is compiled when it is executed for the second time, and Mercurius loaders read the related records in batches.
// Usage: `mercurius.ts PORT DATABASE_URL [--prepared]`.
import mercurius from 'mercurius';
import { createApp } from '../servers/app.ts';
import { batches, type Context, Query, typeDefs } from './graph.ts';

declare module 'mercurius' {
  interface MercuriusContext extends Context {}
}

type Queries<Row> = { obj: Row }[];

const app = createApp();
await app.register(mercurius, {
  schema: typeDefs,
  resolvers: { Query },
  loaders: {
    Project: {
      organization: (queries: Queries<{ orgId: string }>) => batches.organizations(queries.map(({ obj }) => obj.orgId)),
    },
    Organization: {
      memberships: (queries: Queries<{ id: string }>) => batches.memberships(queries.map(({ obj }) => obj.id)),
    },
    Membership: {
      person: (queries: Queries<{ userId: string }>) => batches.people(queries.map(({ obj }) => obj.userId)),
    },
  },
  context: ({ caller }) => ({ caller }),
  jit: 1,
  allowBatchedQueries: true,
});
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
