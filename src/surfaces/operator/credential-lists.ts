// The operator's lists of credentials, without secrets, which are stored only as digests.
import { z } from 'zod';
import { listRegistrations } from '#domain/identity/agent-identities/list.ts';
import { listAllTokens } from '#domain/identity/tokens/operations.ts';
import { listServiceTokens } from '#domain/identity/tokens/service-tokens.ts';
import { emailAddress } from '#domain/organization/people/email.ts';
import { type Command, command, wholeNumber } from './command.ts';
import { slug } from './organization-option.ts';

/** The option `--limit` of a list. */
export const limit = wholeNumber(1, 10_000)
  .default(100)
  .describe('The maximum number of rows, 1 to 10000; 100 by default.');

const filters = z.object({ org: slug.optional(), email: emailAddress.optional(), limit });

export const credentialLists: Record<string, Command> = {
  'token:list': command({
    about: 'Lists personal access tokens, including ended ones, newest first.',
    example: '--org acme --email ada@example.com',
    options: filters,
    run: listAllTokens,
  }),
  'agent:list': command({
    about: 'Lists registered agents, claimed or not, including ended ones, newest first.',
    example: '--org acme',
    options: filters,
    run: listRegistrations,
  }),
  'service-token:list': command({
    about: 'Lists service tokens, including ended ones, newest first.',
    example: '--org acme',
    options: z.object({ org: slug.optional(), limit }),
    run: listServiceTokens,
  }),
};
