// GraphQL fields for the versions of agents, and for trials. In a trial, a share of an agent's missions uses another version.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { epochMs, int, intOrNull, members, string, stringOrNull, strings, typed, typedOrNull } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { range } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { pages, text } from '#limits.ts';
import { trialPercent } from './bounds.ts';
import { restoreAgentVersion } from './operations.ts';
import { AgentType, changeable, note, noteArgument } from './schema.ts';
import { AgentRole, Effort, Harness } from './schema-catalog.ts';
import { endTrial, startTrial } from './trials.ts';
import { AgentVersion } from './version-model.ts';
import { listVersions } from './versions.ts';

const AgentVersionType = builder.modelType(AgentVersion, 'AgentVersion').implement({
  description: 'The settings of an agent after one of its changes. A version never changes.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `agv_`.'),
      agentId: string('The agent.'),
      number: int('The version number; the first version of an agent has the number 1.'),
      name: string('The name of the agent.'),
      role: typed(AgentRole.type, 'The role of the agent in a mission.'),
      harness: typed(Harness.type, 'The program that drives the agent’s model.'),
      model: string('One of the models of the harness.'),
      effort: typedOrNull(Effort.type, 'Reasoning effort of the model; null means the harness decides.'),
      sandboxTemplateId: string('Id of the agent’s sandbox template; `standard`: the project’s template.'),
      userPrompt: stringOrNull('Instructions in addition to the issue.', { complexity: weightOf(text.userPrompt.max) }),
      skillRepos: strings('Repositories with skills that the agent may use.'),
      note: stringOrNull('Reason why the agent was changed; null when none was given.'),
      authorUserId: stringOrNull(
        'The person who changed the agent; null for a program, and once the account is deleted.',
      ),
      author: stringOrNull('The name of the person who changed the agent, as it was then; null for a program.'),
      createdAt: epochMs('When the agent was changed.'),
    }),
});

const number = z.int().min(1);
const StartAgentTrialRequest = request(
  'StartAgentTrialRequest',
  z
    .object({
      percent: z
        .int()
        .min(trialPercent.min)
        .max(trialPercent.max)
        .describe(`The share of the missions in percent: ${range(trialPercent)}.`),
      number: number.nullish().describe('The number of an existing version; must be absent if `changes` is present.'),
      changes: z
        .object(changeable)
        .describe('The changed settings of a new version on trial.')
        .nullish()
        .describe('The changed settings of a new version; must be absent if `number` is present.'),
      note: note.schema.nullish().describe(note.description),
    })
    .meta({
      description: 'A version that a share of the missions of an agent tries: either an existing or a new one.',
      examples: [{ percent: 20, changes: { model: 'claude-opus-4-5' }, note: 'Fewer rounds?' }],
    }),
);

builder.queryField('agentVersions', (t) =>
  t.field({
    description:
      'The versions of an agent of the organization, newest first: the last 1,000. A built-in agent has none.',
    scope: 'agents:read',
    tool: 'list_agent_versions',
    type: pageOf('AgentVersionPage', AgentVersionType),
    args: { agentId: t.arg.string(pathId), ...pageArguments(pages.other) },
    resolve: (_, args, { caller }) => listVersions(caller, args),
  }),
);

builder.objectFields(AgentType, (t) =>
  members(t, {
    version: int('The number of the version whose settings the agent has; 1 for a built-in agent.', {
      graphOnly: true,
    }),
    trialVersion: intOrNull('The number of the version that a share of the missions tries; null without a trial.', {
      graphOnly: true,
    }),
    trialPercent: intOrNull('The share of the missions in percent; null without a trial.', { graphOnly: true }),
  }),
);

builder.mutationFields((t) => ({
  restoreAgentVersion: t.field({
    description: 'Gives an agent the settings of an earlier version, as its next version.',
    scope: 'agents:write',
    tool: { name: 'restore_agent_version', idempotent: true },
    type: AgentType,
    args: {
      agentId: t.arg.string(pathId),
      number: t.arg.int({ required: true, description: 'The number of the version.', validate: { schema: number } }),
      note: t.arg.string(noteArgument),
    },
    resolve: (_, { agentId, ...version }, { caller }) => restoreAgentVersion(caller, agentId, version),
  }),
  startAgentTrial: t.field({
    description:
      'Starts a trial, which replaces an earlier one: a share of the missions of an agent work with another version. This other version ' +
      'is an existing version, named by its number, or a new version with changed settings. All runs on one branch have the same ' +
      'version. A mission whose runtime ' +
      'cannot run the harness or model of the trial works with the agent’s own version.',
    scope: 'agents:write',
    tool: { name: 'start_agent_trial', idempotent: true },
    type: AgentType,
    args: {
      agentId: t.arg.string(pathId),
      input: t.arg({ type: StartAgentTrialRequest, required: true, description: 'The trial.' }),
    },
    resolve: (_, { agentId, input }, { caller }) => startTrial(caller, agentId, input),
  }),
  endAgentTrial: t.field({
    description: 'Ends the trial of an agent.',
    scope: 'agents:write',
    tool: { name: 'end_agent_trial' },
    type: AgentType,
    args: {
      agentId: t.arg.string(pathId),
      promote: t.arg.boolean({
        required: true,
        description: 'Whether all missions of the agent use the settings of the trial from now on.',
      }),
    },
    resolve: (_, { agentId, promote }, { caller }) => endTrial(caller, agentId, promote),
  }),
}));
