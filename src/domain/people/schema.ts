// People in the graph: only as the other end of a relation. Neither a route nor a query lists accounts.
import { builder } from '#graph/builder.ts';
import { Person } from './model.ts';

export const PersonType = builder.modelType(Person, 'Person').implement({
  description: 'A person who signs in to the console; other records call its id `userId`.',
  fields: (t) => ({
    id: t.exposeString('id'),
    email: t.exposeString('email'),
    name: t.exposeString('name'),
    createdAt: t.expose('createdAt', { type: 'EpochMs' }),
  }),
});
