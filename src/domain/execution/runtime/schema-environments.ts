// The environment of a step in the graph.
import { builder } from '#graph/builder.ts';
import { weightOf } from '#graph/weight.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { templateText } from '../../projects/sandbox-templates/bounds.ts';
import { NetworkMode, TemplateBase } from '../../projects/sandbox-templates/schema-parts.ts';
import { ServiceType } from '../../projects/sandbox-templates/schema-services.ts';
import type { NetworkPolicy, Variable } from '../../projects/sandbox-templates/settings.ts';
import type { DeliveredSecret } from '../../projects/secrets/delivery.ts';
import type { StepEnvironment } from '../mission-steps/environment.ts';

const StepNetwork = builder.objectRef<NetworkPolicy>('StepNetwork').implement({
  description: 'The hosts that a phase of a step may connect to. Addresses that are not public are never allowed.',
  fields: (t) => ({
    mode: t.expose('mode', { type: NetworkMode.type, description: 'The policy of the template.' }),
    hosts: t.exposeStringList('hosts', {
      description:
        'All hosts that the policy allows, also with `packages`: `host`, `*.host`, each with `:port` where that port alone is allowed. ' +
        'Empty with `none` and `open`.',
    }),
  }),
});
const StepVariable = builder.objectRef<Variable>('StepVariable').implement({
  description: 'A variable of the environment of setup and agents.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the environment variable.' }),
    value: t.exposeString('value', { description: 'The value of the variable, which is no secret.' }),
  }),
});
const StepSecretType = builder.objectRef<DeliveredSecret>('StepSecret').implement({
  description: 'A secret of the environment, in an answer to the runtime that holds the run.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the environment variable.' }),
    value: t.exposeString('value', { description: 'The value of the secret: never for an agent, a log or a file.' }),
    hosts: t.exposeStringList('hosts', {
      description: 'Requests to these hosts get the value in place of the placeholder; empty with `setupOnly`.',
    }),
    setupOnly: t.exposeBoolean('setupOnly', { description: 'Whether the setup alone gets the secret, as a variable.' }),
  }),
});

export const StepEnvironmentType = builder.objectRef<StepEnvironment>('StepEnvironment').implement({
  description: 'The environment of a step, as its sandbox template defines it.',
  fields: (t) => ({
    templateId: t.exposeString('templateId', {
      description: 'The id of the template: `standard`, or one that starts with `sbt_`.',
    }),
    templateName: t.exposeString('templateName', { description: 'Name of the template, for messages to people.' }),
    base: t.expose('base', { type: TemplateBase.type, description: 'Source of the sandbox.' }),
    image: t.exposeString('image', { nullable: true, description: 'The image of the base `image`; null otherwise.' }),
    dockerfile: t.exposeString('dockerfile', {
      nullable: true,
      complexity: weightOf(templateText.dockerfile.max),
      description:
        'The Dockerfile of the base `dockerfile`. With `standard`: the recipe of the default image, for a runtime that uses ' +
        'containers and has no image of its own. Null otherwise.',
    }),
    setupScript: t.exposeString('setupScript', {
      nullable: true,
      complexity: weightOf(templateText.setupScript.max),
      description: 'A POSIX shell script that prepares the environment, in the checkout; null without one.',
    }),
    variables: t.expose('variables', {
      type: [StepVariable],
      description: 'The variables for the setup and the agents.',
    }),
    secrets: t.expose('secrets', {
      type: [StepSecretType],
      description: 'The secrets, whose names differ from those of the variables.',
    }),
    services: t.expose('services', {
      type: [ServiceType],
      description: 'Containers that share a network with the step alone, and run for as long as the mission.',
    }),
    setupNetwork: t.expose('setupNetwork', {
      type: StepNetwork,
      description: 'The network policy while the environment is prepared.',
    }),
    agentNetwork: t.expose('agentNetwork', {
      type: StepNetwork,
      description: 'The network policy while agents and scripts work.',
    }),
    instanceType: t.expose('instanceType', { type: InstanceType.type, description: 'The size of the sandbox.' }),
    cpus: t.exposeFloat('cpus', {
      nullable: true,
      description: 'Number of CPUs that it may take; null means all of the runtime.',
    }),
    memoryMb: t.exposeInt('memoryMb', { description: 'The memory that it may take, MiB.' }),
    diskMb: t.exposeInt('diskMb', {
      nullable: true,
      description: 'Limit of disk space, MiB; null means the limit of the runtime.',
    }),
    processes: t.exposeInt('processes', {
      nullable: true,
      description: 'Maximum number of processes; null means the limit of the runtime.',
    }),
    stepMinutes: t.exposeInt('stepMinutes', {
      nullable: true,
      description: 'Time limit of a step in minutes; null means `stepTimeoutMs` of the claim.',
    }),
    stepModelCalls: t.exposeInt('stepModelCalls', {
      nullable: true,
      description: 'Maximum model calls of a step; null means `maxTurns` of the claim.',
    }),
    stepTokens: t.exposeInt('stepTokens', {
      nullable: true,
      description: 'Maximum tokens of a step, read and written, cached ones included; null means no bound.',
    }),
  }),
});
