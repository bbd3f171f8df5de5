// The environment of a step in GraphQL.
import { builder } from '#graph/builder.ts';
import { boolean, floatOrNull, int, intOrNull, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { weightOf } from '#graph/weight.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { templateText } from '../../projects/sandbox-templates/bounds.ts';
import { NetworkMode, setupScript, TemplateBase } from '../../projects/sandbox-templates/schema-parts.ts';
import { ServiceType } from '../../projects/sandbox-templates/schema-services.ts';
import type { NetworkPolicy, Variable } from '../../projects/sandbox-templates/settings.ts';
import type { DeliveredSecret } from '../../projects/secrets/delivery.ts';
import type { StepEnvironment } from '../mission-steps/environment.ts';

const StepNetwork = builder.objectRef<NetworkPolicy>('StepNetwork').implement({
  description: 'The hosts that a phase of a step may connect to. Addresses that are not public are never allowed.',
  fields: (t) =>
    members(t, {
      mode: typed(NetworkMode.type, 'The policy of the template.'),
      hosts: strings(
        'All hosts that the policy allows, including those of `packages`: `host`, `*.host`, each with `:port` when only that port is allowed. ' +
          'Empty with `none` and `open`.',
      ),
    }),
});
const StepVariable = builder.objectRef<Variable>('StepVariable').implement({
  description: 'A variable of the environment of setup and agents.',
  fields: (t) =>
    members(t, {
      name: string('The name of the environment variable.'),
      value: string('The value of the variable, which is not secret.'),
    }),
});
const StepSecretType = builder.objectRef<DeliveredSecret>('StepSecret').implement({
  description: 'A secret of the environment, in an answer to the runtime with the lease on the run.',
  fields: (t) =>
    members(t, {
      name: string('The name of the environment variable.'),
      value: string('The value of the secret: never for an agent, a log or a file.'),
      hosts: strings('Requests to these hosts get the value in place of the placeholder; empty with `setupOnly`.'),
      setupOnly: boolean('Whether only the setup gets the secret, as a variable.'),
    }),
});

export const StepEnvironmentType = builder.objectRef<StepEnvironment>('StepEnvironment').implement({
  description: 'The environment of a step, as its sandbox template defines it.',
  fields: (t) =>
    members(t, {
      templateId: string('The id of the template: `standard`, or one that starts with `sbt_`.'),
      templateName: string('Name of the template, for messages to people.'),
      base: typed(TemplateBase.type, 'Source of the sandbox.'),
      image: stringOrNull('The image of the base `image`; null otherwise.'),
      dockerfile: stringOrNull(
        'The Dockerfile of the base `dockerfile`. With `standard` it is the Dockerfile of the default image, for a runtime that uses ' +
          'containers and has no image of its own. Null otherwise.',
        { complexity: weightOf(templateText.dockerfile.max) },
      ),
      setupScript,
      variables: typed([StepVariable], 'The variables for the setup and the agents.'),
      secrets: typed([StepSecretType], 'The secrets, whose names differ from those of the variables.'),
      services: typed(
        [ServiceType],
        'Containers that share a network only with the step, and run for as long as the mission.',
      ),
      setupNetwork: typed(StepNetwork, 'The network policy while the environment is prepared.'),
      agentNetwork: typed(StepNetwork, 'The network policy while agents and scripts work.'),
      instanceType: typed(InstanceType.type, 'The size of the sandbox.'),
      cpus: floatOrNull('Number of CPUs of the sandbox; null means all CPUs of the runtime.'),
      memoryMb: int('Maximum memory of the sandbox, MiB.'),
      diskMb: intOrNull('Limit of disk space, MiB; null means the limit of the runtime.'),
      processes: intOrNull('Maximum number of processes; null means the limit of the runtime.'),
      stepMinutes: intOrNull('Time limit of a step in minutes; null means `stepTimeoutMs` of the claim.'),
      stepModelCalls: intOrNull('Maximum number of model calls of a step; null means `maxTurns` of the claim.'),
      stepTokens: intOrNull(
        'Maximum number of tokens that a step may use. Input, output and cached tokens count. Null means no limit.',
      ),
    }),
});
