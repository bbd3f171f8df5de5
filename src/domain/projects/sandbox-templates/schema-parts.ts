// GraphQL enums for sandbox templates, and the parts of a template.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, range } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { templateCounts, templateText } from './bounds.ts';
import { hostProblem, variableName, variableNameProblem } from './names.ts';
import type { PackageRegistry } from './registries.ts';
import { type NetworkPolicy, networkModes, templateBases, type Variable } from './settings.ts';

export const TemplateBase = wordSet('TemplateBase', templateBases, 'Base of a sandbox.', {
  machine: 'The programs of the runtime’s machine, or the runtime’s own image if the runtime uses containers.',
  image: 'A container image.',
  dockerfile: 'An image that the runtime builds.',
});
export const NetworkMode = wordSet('NetworkMode', networkModes, 'Set of hosts that can be connected to.', {
  none: 'No host.',
  packages: 'Public package registries, as the service lists them, and hosts that the policy adds.',
  custom: 'Only the hosts that the policy names.',
  open: 'Every public host.',
});

export const NetworkPolicyType = builder.objectRef<NetworkPolicy>('NetworkPolicy').implement({
  description: 'The hosts that a phase of a mission may connect to. Addresses that are not public are never allowed.',
  fields: (t) =>
    members(t, {
      mode: typed(NetworkMode.type, 'Set of hosts that the policy allows.'),
      hosts: strings(
        'Hosts that a policy `custom` or `packages` adds: `host` or `*.host`, optionally followed by `:port` to allow only that port.',
      ),
    }),
});
export const VariableType = builder.objectRef<Variable>('TemplateVariable').implement({
  description: 'An environment variable of setup and agents. It is not secret.',
  fields: (t) =>
    members(t, {
      name: string('Name of the environment variable.'),
      value: string('The value, which is visible to everybody who can read the template.', {
        complexity: weightOf(templateText.variable.max),
      }),
    }),
});
export const PackageRegistryType = builder.objectRef<PackageRegistry>('PackageRegistry').implement({
  description: 'A public package registry that the network policy `packages` reaches.',
  fields: (t) =>
    members(t, {
      name: string('Name for people.'),
      hosts: t.stringList({ description: 'The hosts of the registry.', resolve: ({ hosts }) => [...hosts] }),
    }),
});

export const setupScript = stringOrNull(
  'A POSIX shell script that prepares the environment, in the checkout; null without one.',
  { complexity: weightOf(templateText.setupScript.max) },
);
export const imageName = boundedText(templateText.image).regex(
  /^[\w][\w./:@-]*$/,
  'must be the name of an image such as ghcr.io/acme/tools:1',
);
export const environmentName = boundedText(variableName)
  .check(({ value, issues }) => {
    const message = variableNameProblem(value);
    if (message) issues.push({ code: 'custom', message, input: value });
  })
  .describe(
    `The name, ${range(variableName)} letters, digits and underscores; not a name that the platform sets, such as PATH.`,
  );
export const policyHost = boundedText(templateText.host)
  .check(({ value, issues }) => {
    const message = hostProblem(value);
    if (message) issues.push({ code: 'custom', message, input: value });
  })
  .describe('`host` or `*.host`, optionally followed by `:port` to allow only that port.');

export const networkPolicy = z
  .object({
    mode: NetworkMode.zod.describe('Set of hosts that the policy allows.'),
    hosts: z
      .array(policyHost)
      .max(templateCounts.hosts)
      .default([])
      .describe(`Hosts that a policy \`custom\` or \`packages\` adds: at most ${templateCounts.hosts}.`),
  })
  .superRefine(({ mode, hosts }, issues) => {
    if (hosts.length === 0 || mode === 'custom' || mode === 'packages') return;
    issues.addIssue({ code: 'custom', path: ['hosts'], message: `must be empty with the mode ${mode}` });
  })
  .describe('The hosts that can be reached; all others are blocked.');

export const variables = z
  .array(
    z
      .object({
        name: environmentName,
        value: boundedText(templateText.variable).describe(
          `The value, at most ${templateText.variable.max} characters.`,
        ),
      })
      .describe('A variable of the environment.'),
  )
  .max(templateCounts.variables)
  .superRefine((list, issues) => {
    const repeated = list.findIndex(({ name }, at) => list.findIndex((one) => one.name === name) < at);
    if (repeated < 0) return;
    issues.addIssue({ code: 'custom', path: [repeated, 'name'], message: `${list[repeated]!.name} is listed twice` });
  })
  .describe(`At most ${templateCounts.variables} variables, whose values are not secret.`);

export const labels = z
  .array(
    boundedText(templateText.label).regex(
      /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/,
      'must be lowercase letters, digits, ".", "_" and "-", with a letter or digit at both ends',
    ),
  )
  .max(templateCounts.labels)
  .superRefine((list, issues) => {
    const repeated = list.findIndex((label, at) => list.indexOf(label) < at);
    if (repeated < 0) return;
    issues.addIssue({ code: 'custom', path: [repeated], message: `${list[repeated]} is listed twice` });
  })
  .describe(
    `At most ${templateCounts.labels} labels of ${range(templateText.label)} lowercase letters, digits, ".", "_" and "-".`,
  );
