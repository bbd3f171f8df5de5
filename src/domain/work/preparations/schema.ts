// Defines how all APIs (GraphQL, REST and MCP) show the preparations of the environments in which the agents of a run work.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, floatOrNull, members, safeIntOrNull, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { loadTemplate, SandboxTemplateType } from '../../projects/sandbox-templates/schema.ts';
import { preparationBounds } from './bounds.ts';
import { Preparation, preparationStatuses } from './model.ts';
import * as operations from './operations.ts';

export const PreparationStatus = wordSet(
  'PreparationStatus',
  preparationStatuses,
  'Status of the preparation of an environment.',
  {
    preparing: 'The setup runs.',
    ready: 'Agents work in the environment.',
    failed: 'The setup failed or took too long; `lastLines` shows why.',
  },
);

const PreparationType = builder.modelType(Preparation, 'Preparation').implement({
  description: 'How the runtime of a run prepared an environment for its agents.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `pre_`.'),
      runId: string('The id of the run.'),
      templateId: string('The sandbox template.'),
      template: t.field({
        type: SandboxTemplateType,
        nullable: true,
        link: 'agents:read',
        description:
          'The sandbox template in its current version; null once it is deleted, and for a project-bound credential.',
        resolve: ({ templateId }, _, context) => loadTemplate(context).load(templateId),
      }),
      key: string('The runtime’s own id of the prepared environment.'),
      commit: stringOrNull('The commit that the environment was prepared at; null without one.'),
      status: typed(PreparationStatus.type, 'Status of the preparation.'),
      lastLines: stringOrNull('The last lines of the setup’s log; null while there are none.', {
        complexity: weightOf(preparationBounds.lastLines.max),
      }),
      notes: strings(
        'Messages about parts that the runtime has left out, such as unsupported members of devcontainer.json; empty for none.',
      ),
      seconds: floatOrNull(
        'Duration in seconds: 0 when an existing environment was reused, null until the duration is known.',
      ),
      bytes: safeIntOrNull('Size in bytes on the disk of the runtime; null when unknown.'),
      createdAt: epochMs('When the preparation was first reported.'),
      updatedAt: epochMs('When the preparation was last reported.'),
    }),
});
const PreparationList = builder.objectRef<{ data: Preparation[] }>('PreparationList').implement({
  description: 'The preparations of a run.',
  fields: (t) =>
    members(t, {
      data: typed(
        [PreparationType],
        `The preparations in the order in which they began, ${preparationBounds.perRun} at most.`,
      ),
    }),
});

builder.queryField('runPreparations', (t) =>
  t.field({
    description: 'How the environments of a run were prepared.',
    scope: 'missions:read',
    rest: 'GET /runs/{runId}/preparations',
    tool: 'list_preparations',
    type: PreparationList,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    resolve: async (_, { runId }, { caller }) => ({ data: await operations.listPreparations(caller, runId) }),
  }),
);
