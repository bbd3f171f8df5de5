// People in GraphQL, reachable only through relations: no route or query lists accounts.
import { builder } from '#graph/builder.ts';
import { epochMs, members, string } from '#graph/members.ts';
import { Person } from './model.ts';

export const PersonType = builder.modelType(Person, 'Person').implement({
  description: 'A person who signs in to the console; other records call its id `userId`.',
  fields: (t) =>
    members(t, {
      id: string('The `userId` of other records.'),
      email: string('The email address in lower case, unique among all accounts.'),
      name: string('The name that the person chose; until then, the part of the email address before the @.'),
      createdAt: epochMs('When the account was created: at the first sign-in, or by the operator.'),
    }),
});
