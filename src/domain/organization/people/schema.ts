// People in the graph, reachable only through relations: no route or query lists accounts.
import { builder } from '#graph/builder.ts';
import { Person } from './model.ts';

export const PersonType = builder.modelType(Person, 'Person').implement({
  description: 'A person who signs in to the console; other records call its id `userId`.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The `userId` of other records.' }),
    email: t.exposeString('email', { description: 'The email address in lower case, unique among all accounts.' }),
    name: t.exposeString('name', {
      description: 'The name that the person chose; until then, the part of the email address before the @.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'EpochMs',
      description: 'When the account was created: at the first sign-in, or by the operator.',
    }),
  }),
});
