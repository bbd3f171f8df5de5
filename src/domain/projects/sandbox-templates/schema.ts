// Sandbox templates in all APIs.
import { z } from 'zod';
import { missionLimits } from '#foundation/settings/mission-settings.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { ifUpdatedAt, pathId, request } from '#graph/input.ts';
import {
  boolean,
  epochMs,
  intOrNull,
  members,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { pages } from '#limits.ts';
import { EffectPolicyType, effectPolicy } from '../effects/schema-policy.ts';
import { InstanceType } from '../instance-types/schema.ts';
import { templateCounts, templateLimits, templateText } from './bounds.ts';
import { SandboxTemplate } from './model.ts';
import * as operations from './operations.ts';
import {
  imageName,
  labels,
  NetworkPolicyType,
  networkPolicy,
  setupScript,
  TemplateBase,
  VariableType,
  variables,
} from './schema-parts.ts';
import { ServiceType, services } from './schema-services.ts';

/** Fields that add no cost to a query, because they are small parts of the template's row. */
const partOfRow = { complexity: { field: 0, multiplier: 0 } };

export const SandboxTemplateType = builder.modelType(SandboxTemplate, 'SandboxTemplate').implement({
  description:
    'The environment that agents work in: the source and contents of a sandbox, and the hosts that it may reach.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `sbt_`; `standard` for the built-in template.'),
      orgId: string('The organization of the template; for the built-in template, the caller’s.'),
      name: string('The name, unique among the organization’s own templates.'),
      description: stringOrNull('Purpose of the template; null without one.'),
      base: typed(TemplateBase.type, 'Source of a sandbox.'),
      image: stringOrNull('Container image, for the base `image`; null otherwise.'),
      dockerfile: stringOrNull(
        'Dockerfile, for the base `dockerfile`; the built-in template shows the Dockerfile of the default image.',
        { complexity: weightOf(templateText.dockerfile.max) },
      ),
      setupScript,
      variables: typed([VariableType], 'Environment variables of setup and agents.'),
      services: typed([ServiceType], 'Containers that run next to each mission.', {
        complexity: { field: 1, multiplier: templateCounts.services },
      }),
      setupNetwork: typed(NetworkPolicyType, 'The network policy while the environment is prepared.'),
      agentNetwork: typed(NetworkPolicyType, 'The network policy while agents and scripts work.'),
      labels: strings(
        'Labels that a runtime must have, all of them, to execute missions with the template.',
        partOfRow,
      ),
      instanceType: typedOrNull(
        InstanceType.type,
        'The size of missions that start without a chosen size; null means the memory of `standard-1` and no other limit.',
      ),
      memoryMb: intOrNull('Maximum memory of a mission, MiB; null means the memory of the instance type.'),
      diskMb: intOrNull('Maximum disk space of a mission, MiB; null means the limit of the runtime.'),
      processes: intOrNull('Maximum number of processes of a mission; null means the limit of the runtime.'),
      stepMinutes: intOrNull('Time limit of a step in minutes; null means the limit of the service.'),
      stepModelCalls: intOrNull('Maximum number of model calls of a step; null means the limit of the service.'),
      stepTokens: intOrNull(
        'Maximum number of tokens that a step may use. Input, output and cached tokens count. Null means no limit.',
      ),
      maxMinutes: intOrNull(
        'Maximum number of minutes that a mission may use its sandbox, unless its start sets another limit; null means the maximum of the installation.',
      ),
      maxModelCalls: intOrNull(
        'Maximum number of model calls of a mission, unless its start sets another limit; null means the maximum of the installation.',
      ),
      maxTokens: intOrNull(
        'Maximum number of tokens that a mission may use, unless another limit was set when it was started. Input, output and cached tokens count. Null means the maximum of the installation.',
      ),
      effectPolicy: typedOrNull(
        EffectPolicyType,
        'Policy that decides which outside effects wait for approval, in addition to those of the project; null means none.',
        partOfRow,
      ),
      isBuiltin: boolean(
        'Whether the template is part of the service: every organization has it, and nobody can change or delete it.',
      ),
      createdAt: epochMs('When the template was created; for the built-in template, a fixed time.'),
      updatedAt: epochMs('When the template was last changed.'),
    }),
});

/** Loads templates by id, including the built-in one. */
export const loadTemplate = toOne<operations.TemplateRecord>(
  (ids, caller) => operations.findTemplates(caller, ids),
  ({ id }) => id,
);
const SandboxTemplatePage = pageOf('SandboxTemplatePage', SandboxTemplateType);

const name = nameText(templateText.name).describe(
  `${range(templateText.name)} characters; unique in the organization.`,
);
const bounded = ({ min, max }: { min: number; max: number }, what: string) =>
  z
    .int()
    .min(min)
    .max(max)
    .nullable()
    .optional()
    .describe(`${what}: ${range({ min, max })}; null means that the template sets no limit.`);
const requestMembers = {
  description: boundedText(templateText.description).nullable().optional().describe('Purpose of the template.'),
  base: TemplateBase.zod.optional().describe('Source of a sandbox.'),
  image: imageName
    .nullable()
    .optional()
    .describe('A container image: required with the base `image`, not allowed with any other.'),
  dockerfile: boundedText(templateText.dockerfile)
    .nullable()
    .optional()
    .describe('A Dockerfile: required with the base `dockerfile`, not allowed with any other.'),
  setupScript: boundedText(templateText.setupScript)
    .nullable()
    .optional()
    .describe('A POSIX shell script that prepares the environment, in the checkout.'),
  variables: variables.optional(),
  services: services.optional(),
  setupNetwork: networkPolicy.optional().describe('The network policy while the environment is prepared.'),
  agentNetwork: networkPolicy.optional().describe('The network policy while agents and scripts work.'),
  labels: labels.optional(),
  instanceType: InstanceType.zod
    .nullable()
    .optional()
    .describe(
      'The size of missions that start without a chosen size. `memoryMb` and `diskMb` override the memory and disk space of the size.',
    ),
  memoryMb: bounded(templateLimits.memoryMb, 'Maximum memory of a mission in MiB'),
  diskMb: bounded(templateLimits.diskMb, 'Maximum disk space of a mission in MiB'),
  processes: bounded(templateLimits.processes, 'Maximum number of processes of a mission'),
  stepMinutes: bounded(templateLimits.stepMinutes, 'Maximum number of minutes of a step'),
  stepModelCalls: bounded(templateLimits.stepModelCalls, 'Maximum number of model calls of a step'),
  stepTokens: bounded(templateLimits.stepTokens, 'Maximum number of tokens of a step'),
  maxMinutes: bounded(missionLimits.maxMinutes, 'Maximum number of minutes that a mission may use its sandbox'),
  maxModelCalls: bounded(missionLimits.maxModelCalls, 'Maximum number of model calls of a mission'),
  maxTokens: bounded(missionLimits.maxTokens, 'Maximum number of tokens of a mission'),
  effectPolicy: effectPolicy
    .nullable()
    .optional()
    .describe('Policy that decides which outside effects wait for approval; null means that none waits.'),
};

const CreateSandboxTemplateRequest = request(
  'CreateSandboxTemplateRequest',
  z.object({ name, ...requestMembers }).meta({
    description: 'A new sandbox template. Omitted fields default to the built-in template.',
    examples: [
      {
        name: 'Node',
        base: 'machine',
        setupScript: 'npm ci',
        variables: [{ name: 'CI', value: 'true' }],
        agentNetwork: { mode: 'packages', hosts: ['api.example.com'] },
      },
    ],
  }),
);
const UpdateSandboxTemplateRequest = request(
  'UpdateSandboxTemplateRequest',
  z.object({ name: name.optional(), ...requestMembers }).meta({
    description: 'Omitted fields keep their value.',
    examples: [{ agentNetwork: { mode: 'custom', hosts: ['api.example.com'] } }],
  }),
);

builder.queryFields((t) => ({
  sandboxTemplates: t.field({
    description: 'The sandbox templates of the organization, newest first, then the built-in one.',
    scope: 'agents:read',
    rest: 'GET /sandbox-templates',
    tool: 'list_sandbox_templates',
    type: SandboxTemplatePage,
    args: pageArguments(pages.other),
    resolve: (_, args, { caller }) => operations.listSandboxTemplates(caller, args),
  }),
  sandboxTemplate: t.field({
    description: 'A sandbox template by its id, which can be the id of the built-in template.',
    scope: 'agents:read',
    rest: 'GET /sandbox-templates/{templateId}',
    tool: 'get_sandbox_template',
    type: SandboxTemplateType,
    args: { templateId: t.arg.string(pathId) },
    resolve: (_, { templateId }, { caller }) => operations.findTemplate(caller, templateId),
  }),
}));

builder.mutationFields((t) => ({
  createSandboxTemplate: t.field({
    description: 'Creates a sandbox template, which projects and agents can choose.',
    scope: 'agents:write',
    rest: { route: 'POST /sandbox-templates', status: 201, errors: [409] },
    tool: 'create_sandbox_template',
    type: SandboxTemplateType,
    args: { input: t.arg({ type: CreateSandboxTemplateRequest, required: true, description: 'The new template.' }) },
    resolve: (_, { input }, { caller }) => operations.createTemplate(caller, input),
  }),
  updateSandboxTemplate: t.field({
    description:
      'Changes a sandbox template. The change applies from the next step of each mission. Omitted fields keep their value.',
    scope: 'agents:write',
    rest: { route: 'PATCH /sandbox-templates/{templateId}', without: ['ifUpdatedAt'], errors: [409] },
    tool: { name: 'update_sandbox_template', idempotent: true },
    type: SandboxTemplateType,
    args: {
      templateId: t.arg.string(pathId),
      input: t.arg({ type: UpdateSandboxTemplateRequest, required: true, description: 'The fields to change.' }),
      ifUpdatedAt: t.arg({ type: 'EpochMs', ...ifUpdatedAt }),
    },
    resolve: (_, { templateId, input, ifUpdatedAt: seen }, { caller }) =>
      operations.updateTemplate(caller, templateId, input, seen),
  }),
}));
