// Agents and their catalog in all APIs (docs/contract.md#agents).
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { ifUpdatedAt, pathId, request } from '#graph/input.ts';
import {
  belongsTo,
  boolean,
  epochMs,
  members,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { pages, text } from '#limits.ts';
import { repositoryPattern } from '../integrations/repository-name.ts';
import { loadTemplate, SandboxTemplateType } from '../sandbox-templates/schema.ts';
import { versionNote } from './bounds.ts';
import { Agent } from './model.ts';
import { findWithModel, readCatalog } from './models.ts';
import * as operations from './operations.ts';
import { AgentCatalog, AgentRole, Effort, Harness } from './schema-catalog.ts';

const SandboxKind = wordSet('AgentSandboxKind', ['existing'], 'Source of the sandbox of an agent.', {
  existing: 'An existing template, named by `templateId`.',
});

/** Loads agents by id, including built-in ones. */
export const loadAgent = toOne<operations.AgentRecord>(
  (ids, caller) => operations.findAgents(caller, ids),
  ({ id }) => id,
);

const loadWithModel = toOne<Pick<operations.AgentRecord, 'id'>>(
  (ids, caller) => findWithModel(caller, ids),
  ({ id }) => id,
);

export const AgentType = builder.modelType(Agent, 'Agent').implement({
  description: 'An agent for missions: a role, a harness and a model under one name.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `agn_`.'),
      orgId: string('The organization of the agent; for a built-in agent, the caller’s.'),
      name: string('The name, unique among the organization’s own agents.'),
      role: typed(AgentRole.type, 'The role of the agent in a mission.'),
      harness: typed(Harness.type, 'The program that drives the agent’s model.'),
      model: string('One of the models of the harness, as the catalog lists them.'),
      effort: typedOrNull(Effort.type, 'Reasoning effort of the model; null means the harness decides.'),
      sandboxTemplateId: string(
        'Id of the agent’s sandbox template; `standard` means that the project’s template is used.',
      ),
      sandboxTemplate: t.field({
        type: SandboxTemplateType,
        nullable: true,
        graphOnly: true,
        description: 'The agent’s own sandbox template; with `standard`, the project’s template is used instead.',
        resolve: ({ sandboxTemplateId }, _, context) => loadTemplate(context).load(sandboxTemplateId),
      }),
      userPrompt: stringOrNull('Instructions in addition to the issue.', { complexity: weightOf(text.userPrompt.max) }),
      skillRepos: strings('Repositories with skills that the agent may use.'),
      isBuiltin: boolean(
        'Whether the agent is part of the service: every organization has it, and nobody can change or delete it.',
      ),
      createdAt: epochMs('When the agent was created; for a built-in agent, a fixed time.'),
      updatedAt: epochMs('When the agent was last changed.'),
      hasModel: t.boolean({
        graphOnly: true,
        description:
          'Whether missions that name the agent may start: it needs no model, or the organization or a runtime has one.',
        resolve: async ({ id }, _, context) => Boolean(await loadWithModel(context).load(id)),
      }),
      organization: belongsTo(
        'organizations:read',
        'The organization; null when the caller is not allowed to read organizations.',
      ),
    }),
});

const AgentPage = pageOf('AgentPage', AgentType);
const DeleteAgentResponse = okIdAnswer('DeleteAgentResponse');

const name = nameText(text.missionAgentName).describe(
  `${range(text.missionAgentName)} characters; unique in the organization.`,
);
const role = AgentRole.zod.describe('The role of the agent in a mission.');
const harness = Harness.zod.describe('The program that drives the agent’s model.');
const model = boundedText(text.modelId).describe('One of the models of the harness.');
const sandbox = z
  .object({
    kind: SandboxKind.zod.describe('Always `existing`.'),
    templateId: boundedText(text.pathId).describe(
      'A sandbox template of the organization, or `standard` to use the project’s template.',
    ),
  })
  .describe('The working environment of the agent.');
const more = {
  effort: Effort.zod.nullable().optional().describe('Reasoning effort of the model; null means the harness decides.'),
  userPrompt: boundedText(text.userPrompt)
    .nullable()
    .optional()
    .describe('Instructions in addition to the issue: at most 20,000 characters.'),
  skillRepos: z
    .array(boundedText(text.repoFullName).regex(repositoryPattern, 'must be <owner>/<repo>'))
    .max(20)
    .optional()
    .describe('`<owner>/<repo>` of repositories with skills: at most 20.'),
};
/** Settings of an agent that a trial may change. */
export const changeable = {
  harness: harness.optional(),
  model: model.optional(),
  sandbox: sandbox.optional(),
  ...more,
};

export const note = {
  schema: boundedText(versionNote),
  description: `Reason for the change, shown in the list of versions: ${range(versionNote)} characters.`,
};
export const noteArgument = { description: note.description, validate: { schema: note.schema } };

const CreateAgentRequest = request(
  'CreateAgentRequest',
  z.object({ name, role, harness, model, sandbox, ...more }).meta({
    description: 'A new agent of the organization.',
    examples: [
      {
        name: 'Careful builder',
        role: 'builder',
        harness: 'claude-code',
        model: 'claude-sonnet-4-5',
        sandbox: { kind: 'existing', templateId: 'standard' },
      },
    ],
  }),
);
const UpdateAgentRequest = request(
  'UpdateAgentRequest',
  z.object({ name: name.optional(), role: role.optional(), ...changeable }).meta({
    description: 'Omitted members stay unchanged.',
    examples: [{ model: 'claude-opus-4-5', effort: 'high' }],
  }),
);

builder.queryFields((t) => ({
  agentCatalog: t.field({
    description: 'Roles, harnesses with their models, the built-in agents and sandbox template, and instance types.',
    scope: 'agents:read',
    rest: 'GET /agents/catalog',
    tool: 'get_agent_catalog',
    type: AgentCatalog,
    resolve: (_, _args, { caller }) => readCatalog(caller),
  }),
  agents: t.field({
    description: 'The organization’s own agents, newest first, then the built-in ones.',
    scope: 'agents:read',
    rest: 'GET /agents',
    tool: 'list_agents',
    type: AgentPage,
    args: {
      role: t.arg({ type: AgentRole.type, description: 'Only agents of this role.' }),
      ...pageArguments(pages.other),
    },
    resolve: (_, args, { caller }) => operations.listAgents(caller, args),
  }),
  agent: t.field({
    description: 'An agent by its id: one of the organization, or a built-in one.',
    scope: 'agents:read',
    rest: 'GET /agents/{agentId}',
    tool: 'get_agent',
    type: AgentType,
    args: { agentId: t.arg.string(pathId) },
    resolve: (_, { agentId }, { caller }) => operations.findAgent(caller, agentId),
  }),
}));

builder.mutationFields((t) => ({
  createAgent: t.field({
    description: 'Creates an agent with a role, a harness and a model of the catalog.',
    scope: 'agents:write',
    rest: { route: 'POST /agents', status: 201, errors: [409] },
    tool: 'create_agent',
    type: AgentType,
    args: { input: t.arg({ type: CreateAgentRequest, required: true, description: 'The new agent.' }) },
    resolve: (_, { input }, { caller }) => operations.createAgent(caller, input),
  }),
  updateAgent: t.field({
    description:
      'Changes an agent. Omitted members stay unchanged; null clears a nullable member. Changed settings are a new version.',
    scope: 'agents:write',
    rest: { route: 'PATCH /agents/{agentId}', without: ['ifUpdatedAt', 'note'], errors: [409] },
    tool: { name: 'update_agent', idempotent: true },
    type: AgentType,
    args: {
      agentId: t.arg.string(pathId),
      input: t.arg({ type: UpdateAgentRequest, required: true, description: 'The fields to change.' }),
      note: t.arg.string(noteArgument),
      ifUpdatedAt: t.arg({ type: 'EpochMs', ...ifUpdatedAt }),
    },
    resolve: (_, { agentId, input, ...options }, { caller }) => operations.updateAgent(caller, agentId, input, options),
  }),
  deleteAgent: t.field({
    description: 'Deletes an agent of the organization. A built-in agent cannot be deleted.',
    scope: 'agents:write',
    rest: { route: 'DELETE /agents/{agentId}', errors: [409] },
    tool: { name: 'delete_agent', destructive: true, idempotent: true },
    type: DeleteAgentResponse,
    args: { agentId: t.arg.string(pathId) },
    resolve: (_, { agentId }, { caller }) => operations.deleteAgent(caller, agentId),
  }),
}));
