// Converts a sandbox template of the API to the values of its form, and the values of the form to a request to the API.
import { policyInput, policyValues } from '../effects/policy-field.tsx';
import type {
  CreateSandboxTemplateRequest,
  NetworkMode,
  SandboxTemplateQuery,
  TemplateBase,
} from '../generated/documents.ts';
import { cleanHosts } from '../kit/entries.tsx';
import { optional } from '../kit/fields.tsx';

export type Template = SandboxTemplateQuery['sandboxTemplate'];

export interface Policy {
  mode: NetworkMode;
  hosts: string[];
}

const sharesNetwork = ({ setupNetwork, agentNetwork }: Template): boolean =>
  JSON.stringify(setupNetwork) === JSON.stringify(agentNetwork);

export const limitNames = [
  ...(['memoryMb', 'diskMb', 'processes', 'stepMinutes', 'stepModelCalls', 'stepTokens'] as const),
  ...(['maxMinutes', 'maxModelCalls', 'maxTokens'] as const),
] as const;
export type LimitName = (typeof limitNames)[number];

const limitsBy = <T>(read: (limit: LimitName) => T) =>
  Object.fromEntries(limitNames.map((limit) => [limit, read(limit)])) as Record<LimitName, T>;

type Service = Template['services'][number];

/** A service in the format of the form: one variable and one argument of the command per line. */
export const serviceRow = ({ name, image, variables, command, healthCheck }: Service) => ({
  ...{ name, image, healthCheck: healthCheck ?? '' },
  variables: variables.map((one) => `${one.name}=${one.value}`).join('\n'),
  command: command?.join('\n') ?? '',
});
export type ServiceRow = ReturnType<typeof serviceRow>;
export const blankService = serviceRow({ name: '', image: '', variables: [], command: null, healthCheck: null });

/** Whether the person has entered anything in the fields of a service. */
export const isServiceSent = (row: ServiceRow): boolean => Object.values(row).some((text) => text.trim() !== '');

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

const serviceOf = ({ name, image, variables, command, healthCheck }: ServiceRow) => ({
  ...{ name: name.trim(), image: image.trim(), healthCheck: optional(healthCheck) },
  variables: linesOf(variables).map((line) => {
    const [before, ...after] = line.split('=');
    return { name: before!.trim(), value: after.join('=') };
  }),
  command: command.trim() === '' ? null : linesOf(command),
});

export const valuesOf = (template: Template) => {
  const { name, description, base, image, dockerfile, setupScript, variables } = template;
  return {
    ...{ name, base: base as string, variables },
    description: description ?? '',
    image: image ?? '',
    // The built-in template has the Dockerfile of the default image.
    dockerfile: (base === 'dockerfile' && dockerfile) || '',
    setupScript: setupScript ?? '',
    services: template.services.map(serviceRow),
    agentNetwork: template.agentNetwork as Policy,
    labels: template.labels.join(', '),
    instanceType: template.instanceType ?? '',
    hasOwnSetupNetwork: !sharesNetwork(template),
    setupNetwork: template.setupNetwork as Policy,
    ...limitsBy((limit) => String(template[limit] ?? '')),
    ...policyValues(template.effectPolicy),
  };
};

export type TemplateValues = ReturnType<typeof valuesOf>;

/** Whether a network policy with this mode can have a list of hosts. */
export const takesHosts = (mode: NetworkMode): boolean => mode === 'packages' || mode === 'custom';

const policyOf = ({ mode, hosts }: Policy): Policy => ({ mode, hosts: takesHosts(mode) ? cleanHosts(hosts) : [] });
const limitOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

export function inputOf(values: TemplateValues): CreateSandboxTemplateRequest {
  const { name, base, variables } = values;
  const agentNetwork = policyOf(values.agentNetwork);
  return {
    name,
    description: optional(values.description),
    base: base as TemplateBase,
    image: base === 'image' ? values.image.trim() : null,
    dockerfile: base === 'dockerfile' ? values.dockerfile : null,
    setupScript: values.setupScript.trim() === '' ? null : values.setupScript,
    variables: variables.filter(isSent).map((one) => ({ name: one.name.trim(), value: one.value })),
    services: values.services.filter(isServiceSent).map(serviceOf),
    labels: values.labels.split(/[\s,]+/).filter(Boolean),
    instanceType: (values.instanceType || null) as Template['instanceType'],
    agentNetwork,
    setupNetwork: values.hasOwnSetupNetwork ? policyOf(values.setupNetwork) : agentNetwork,
    ...limitsBy((limit) => limitOf(values[limit])),
    effectPolicy: policyInput(values),
  };
}

/** Whether the person has entered a name or a value for a variable. */
export const isSent = ({ name, value }: { name: string; value: string }): boolean => name.trim() !== '' || value !== '';
