// GraphQL types for the catalog of roles, harnesses, models and sandboxes (docs/contract.md#agents).
import { builder } from '#graph/builder.ts';
import { boolean, float, int, members, string, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { pricePerMinute } from '../instance-types/prices.ts';
import { InstanceType } from '../instance-types/schema.ts';
import { instanceTypes } from '../instance-types/sizes.ts';
import type { CatalogTemplate } from '../sandbox-templates/builtin.ts';
import { type MissionBounds, missionBounds } from '../sandbox-templates/mission-limits.ts';
import { packageRegistries } from '../sandbox-templates/registries.ts';
import { PackageRegistryType } from '../sandbox-templates/schema-parts.ts';
import type * as catalog from './catalog.ts';
import { modelVendors } from './catalog.ts';
import { agentRoles, efforts, harnessIds } from './model.ts';

export const AgentRole = wordSet('AgentRole', agentRoles, 'Role of an agent in a mission.', {
  planner: 'Splits the issue into steps.',
  builder: 'Changes the code.',
  reviewer: 'Reviews the change.',
  qa: 'Tests the change as a user would.',
  researcher: 'Gathers information for the other agents.',
});
export const Harness = wordSet('Harness', harnessIds, 'The program that drives the model.');
export const Effort = wordSet('AgentEffort', efforts, 'Limit on the model’s reasoning effort.', {
  low: 'Fastest and cheapest.',
  medium: 'Balances speed and care.',
  high: 'Slowest and most careful.',
});

export const ModelVendor = wordSet('ModelVendor', modelVendors, 'The vendor of a language model.', {
  anthropic: 'The Claude models.',
  openai: 'The GPT models.',
});

const CatalogRole = builder.objectRef<catalog.Role>('CatalogRole').implement({
  description: 'A role that an agent can have.',
  fields: (t) =>
    members(t, {
      key: typed(AgentRole.type, 'Value for `role` of an agent.'),
      name: string('Name for people; programs use the id.'),
      roleLabel: string('Label for display.'),
      blurb: string('The task of an agent in this role, in one sentence.'),
    }),
});
export const CatalogModelType = builder.objectRef<catalog.CatalogModel>('CatalogModel').implement({
  description: 'A language model.',
  fields: (t) =>
    members(t, {
      id: string('Value for `model` of an agent.'),
      label: string('Name for people; programs use the id.'),
    }),
});
const CatalogHarness = builder.objectRef<catalog.Harness>('CatalogHarness').implement({
  description: 'A program that drives a model, and the models it runs.',
  fields: (t) =>
    members(t, {
      id: typed(Harness.type, 'Value for `harness` of an agent.'),
      label: string('Name for people; programs use the id.'),
      executable: boolean('Whether missions may be assigned to agents with this harness.'),
      models: t.field({
        type: [CatalogModelType],
        resolve: ({ models }) => [...models],
        description: 'The models that an agent with this harness can use.',
      }),
    }),
});
const CatalogAgent = builder.objectRef<catalog.BuiltinAgent>('CatalogAgent').implement({
  description: 'An agent that exists in every organization.',
  fields: (t) =>
    members(t, {
      key: string('The key of the agent. The id of the agent is `agn_builtin_` followed by this key.'),
      name: string('Name for people; programs use the id.'),
      role: typed(AgentRole.type, 'The role of the agent in a mission.'),
      harness: typed(Harness.type, 'The program that drives the agent’s model.'),
      model: string('The id of the agent’s model.'),
      userPrompt: string('Instructions that the agent gets in addition to the issue.', {
        complexity: weightOf(text.userPrompt.max),
      }),
      skillRepos: t.stringList({
        resolve: ({ skillRepos }) => [...skillRepos],
        description: 'Repositories with skills, each `<owner>/<repo>`.',
      }),
      sandboxTemplateKey: string('The key of the agent’s sandbox template.'),
    }),
});
const CatalogSandboxTemplate = builder.objectRef<CatalogTemplate>('CatalogSandboxTemplate').implement({
  description: 'A container image for sandboxes.',
  fields: (t) =>
    members(t, {
      key: string('A value for `sandbox.templateId` of a new agent.'),
      name: string('Name for people; programs use the id.'),
      dockerfile: string('The Dockerfile of the image.'),
    }),
});
const CatalogInstanceType = builder.objectRef<(typeof instanceTypes)[number]>('CatalogInstanceType').implement({
  description: 'A sandbox size.',
  fields: (t) =>
    members(t, {
      id: typed(InstanceType.type, 'Value for `instanceType` of a sandbox.'),
      label: string('Name for people; programs use the id.'),
      vcpu: float('Virtual CPU cores.'),
      memory: int('Memory in MiB.'),
      disk: int('Disk space in GB.'),
      usdPerMinute: t.float({
        graphOnly: true,
        description:
          'Price in US dollars of each started minute in which a mission has a sandbox of this type; 0 if no price is set.',
        resolve: ({ id }) => pricePerMinute(id),
      }),
    }),
});
const MissionBoundsType = builder.objectRef<MissionBounds>('MissionBounds').implement({
  description:
    'The largest limits that a mission can have in this installation; they also apply to a mission that sets no limits.',
  fields: (t) =>
    members(t, {
      maxMinutes: int('Minutes that a mission may use its sandbox.'),
      maxModelCalls: int('Model calls of a mission.'),
      maxTokens: int('Tokens of a mission, input and output.'),
    }),
});
export const AgentCatalog = builder.objectRef<typeof catalog>('AgentCatalog').implement({
  description: 'The options for agents: roles, harnesses, models, templates and sizes.',
  fields: (t) =>
    members(t, {
      roles: t.field({ type: [CatalogRole], resolve: ({ roles }) => [...roles], description: 'All roles.' }),
      harnesses: t.field({
        type: [CatalogHarness],
        resolve: ({ harnesses }) => [...harnesses],
        description: 'All harnesses.',
      }),
      builtinAgents: t.field({
        type: [CatalogAgent],
        resolve: ({ builtinAgents }) => [...builtinAgents],
        description: 'The built-in agents.',
      }),
      builtinSandboxTemplate: typed(CatalogSandboxTemplate, 'The built-in sandbox template.'),
      packageRegistries: t.field({
        type: [PackageRegistryType],
        graphOnly: true,
        description: 'The public package registries that the network policy `packages` reaches.',
        resolve: () => [...packageRegistries],
      }),
      instanceTypes: t.field({
        type: [CatalogInstanceType],
        resolve: () => [...instanceTypes],
        description: 'All sandbox sizes, smallest first.',
      }),
      missionBounds: t.field({
        type: MissionBoundsType,
        graphOnly: true,
        resolve: missionBounds,
        description: 'The largest limits that a template or a start may set for a mission.',
      }),
    }),
});
