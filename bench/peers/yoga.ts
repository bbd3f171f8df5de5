// Plain GraphQL Yoga on node:http, relations through DataLoader. `yoga.ts PORT DATABASE_URL [--prepared]`.
import { createServer } from 'node:http';
import DataLoader from 'dataloader';
import { GraphQLError } from 'graphql';
import { createSchema, createYoga } from 'graphql-yoga';
import { callerOf } from '../servers/work.ts';
import { batches, type Context, Query, typeDefs } from './graph.ts';

const createLoaders = () => ({
  organizations: new DataLoader(batches.organizations),
  memberships: new DataLoader(batches.memberships),
  people: new DataLoader(batches.people),
});
interface Loading extends Context {
  loaders: ReturnType<typeof createLoaders>;
}

const resolvers = {
  Query,
  Project: {
    organization: ({ orgId }: { orgId: string }, _: object, { loaders }: Loading) => loaders.organizations.load(orgId),
  },
  Organization: {
    memberships: ({ id }: { id: string }, _: object, { loaders }: Loading) => loaders.memberships.load(id),
  },
  Membership: {
    person: ({ userId }: { userId: string }, _: object, { loaders }: Loading) => loaders.people.load(userId),
  },
};

const yoga = createYoga({
  schema: createSchema<Loading>({ typeDefs, resolvers }),
  async context({ request }): Promise<Loading> {
    const caller = await callerOf(request.headers.get('authorization') ?? undefined);
    if (!caller) throw new GraphQLError('Unauthenticated', { extensions: { http: { status: 401 } } });
    return { caller, loaders: createLoaders() };
  },
  batching: { limit: 10 },
  graphiql: false,
  logging: false,
});
createServer(yoga).listen(Number(process.argv[2]), '127.0.0.1');
