// GraphQL mutation that chooses a project's connectors.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { setConnectors } from './operations.ts';

const connector = boundedText(text.pathId).optional();
const ProjectConnectorsRequest = request(
  'ProjectConnectorsRequest',
  z
    .object({
      trackerConnectorId: connector
        .nullable()
        .describe(
          'The connector of the tracker; null for the built-in tracker. If you choose another tracker and name no team in `trackerTeamKey`, ' +
            'the project has no team afterwards.',
        ),
      trackerTeamKey: boundedText(text.trackerTeamKey)
        .nullable()
        .optional()
        .describe('The key of the team in the tracker.'),
      scmConnectorId: connector.describe('The connector of the source host.'),
      llmConnectorId: connector.describe('The connector of the language model.'),
    })
    .meta({
      description: 'Omitted members stay unchanged.',
      examples: [{ trackerConnectorId: null, scmConnectorId: 'int_012345678901234567890123' }],
    }),
);

builder.mutationField('setProjectConnectors', (t) =>
  t.field({
    description:
      'Changes the connectors of a project. A tracker or source host at another server is refused with 409 while missions or pull ' +
      'requests of the project are open.',
    scope: 'projects:write',
    tool: { name: 'set_project_connectors', idempotent: true },
    type: ProjectType,
    args: {
      projectId: t.arg.string(pathId),
      input: t.arg({ type: ProjectConnectorsRequest, required: true, description: 'The connectors to change.' }),
    },
    resolve: (_, { projectId, input }, { caller }) => setConnectors(caller, projectId, input),
  }),
);
