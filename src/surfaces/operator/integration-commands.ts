// The operator's commands for connectors: connect a vendor, replace or revoke its credentials, check and delete it.
import { z } from 'zod';
import {
  Integration,
  type ProjectKind,
  projectKinds,
  projectKindsOf,
  type Vendor,
  vendorNames,
} from '#domain/projects/integrations/model.ts';
import { replaceCredentials, revokeCredentials } from '#domain/projects/integrations/operations.ts';
import { checkBaseUrl } from '#domain/projects/vendors/addresses.ts';
import { connectorText } from '#domain/projects/vendors/bounds.ts';
import { checkConnector } from '#domain/projects/vendors/check.ts';
import { connectIntegration, disconnectIntegration } from '#domain/projects/vendors/connectors.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { type Command, command, flag } from './command.ts';
import { organizationOf, slug } from './organization-option.ts';

const id = boundedText(text.pathId).describe('The id of an integration.');

/** Chats are left out, because people connect them in the console. */
const connectable = vendorNames.filter((name) => projectKindsOf(name).length > 0);

export const integrationCommands: Record<string, Command> = {
  'integration:create': command({
    example: '--org acme --vendor github --kind tracker --name GitHub',
    about:
      'Connects a tracker, a source host or a language model; its credentials are read from standard input and sealed.',
    options: z.object({
      org: slug,
      vendor: z.enum(connectable).describe(`One of ${connectable.join(', ')}.`),
      kind: z
        .enum(projectKinds)
        .describe(`One of ${projectKinds.join(', ')}; required if the vendor has several.`)
        .optional(),
      name: nameText(text.integrationName).describe('The display name.'),
      'external-org': boundedText(text.externalOrgId).describe('The account or workspace at the vendor.').optional(),
      'base-url': boundedText(connectorText.baseUrl)
        .describe(
          'The address of a compatible server; for openai with its version, such as /v1; for github a GitHub Enterprise ' +
            'Server, with /api/v3.',
        )
        .optional(),
      'credentials-stdin': flag,
    }),
    run: async (
      { org, vendor, kind, name, 'external-org': externalOrgId, 'base-url': baseUrl, 'credentials-stdin': piped },
      { readInput },
    ) => {
      const vendorKind = kind ?? onlyKind(vendor);
      const { id: orgId } = await organizationOf(org);
      const credentials = piped ? await readInput() : undefined;
      if (credentials === '') throw new Error('--credentials-stdin: standard input is empty');
      const created = await connectIntegration({
        orgId,
        vendor,
        vendorKind,
        displayName: name,
        externalOrgId,
        baseUrl: baseUrl && (await checkBaseUrl(vendor, baseUrl)),
        credentials,
      });
      return Integration.find({ id: created.id });
    },
  }),
  'integration:credentials': command({
    example: '--id int_01a207a232804b897f93a2a46f8445e3',
    about: 'Replaces the credentials of a connector; the new ones are read from standard input and sealed.',
    options: z.object({ id }),
    run: async ({ id }, { readInput }) => {
      const credentials = await readInput();
      if (!credentials) throw new Error('standard input is empty');
      return replaceCredentials(id, credentials);
    },
  }),
  'integration:check': command({
    example: '--id int_01a207a232804b897f93a2a46f8445e3',
    about: 'Asks the vendor whether it accepts the credentials of the connector.',
    options: z.object({ id }),
    run: async ({ id }) => checkConnector(await Integration.get({ id })),
  }),
  'integration:revoke': command({
    example: '--id int_01a207a232804b897f93a2a46f8445e3',
    about: 'Deletes the credentials of a connector at once; its projects keep the connector, which can get new ones.',
    options: z.object({ id }),
    run: ({ id }) => revokeCredentials(id),
  }),
  'integration:delete': command({
    example: '--id int_01a207a232804b897f93a2a46f8445e3',
    about: 'Deletes a connector. A tracker or source host that projects use is deleted only with --detach-projects.',
    options: z.object({ id, 'detach-projects': flag }),
    run: async ({ id, 'detach-projects': detaches }) => ({
      ok: true,
      id: (await disconnectIntegration(id, detaches)).id,
    }),
  }),
};

function onlyKind(vendor: Vendor): ProjectKind {
  const kinds = projectKindsOf(vendor);
  if (kinds.length === 0)
    throw new Error(`--vendor: ${vendor} is a chat platform: an admin connects it in the console`);
  if (kinds.length > 1) throw new Error(`--kind: must be one of ${kinds.join(', ')} for ${vendor}`);
  return kinds[0]!;
}
