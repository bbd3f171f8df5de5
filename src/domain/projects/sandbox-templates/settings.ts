// Settings of a sandbox template, which describes the environment that agents work in, and the built-in template.
import { conflict } from '#foundation/problem.ts';
import type { EffectPolicy } from '../effects/model.ts';
import type { InstanceTypeId } from '../instance-types/model.ts';
import { templateCounts } from './bounds.ts';
import { builtinSandboxTemplate } from './builtin.ts';
import { hostRule, namesHost } from './names.ts';
import { packageRegistries } from './registries.ts';

/** Kinds of source from which a sandbox is created. */
export const templateBases = ['machine', 'image', 'dockerfile'] as const;
export type TemplateBase = (typeof templateBases)[number];

export const networkModes = ['none', 'packages', 'custom', 'open'] as const;
export type NetworkMode = (typeof networkModes)[number];

/** The hosts that a phase of a mission may connect to. */
export interface NetworkPolicy {
  mode: NetworkMode;
  /** Hosts, for `custom` and `packages`: `host` or `*.host`, with an optional `:port`. */
  hosts: string[];
}

export interface Variable {
  name: string;
  value: string;
}

/** A container that runs next to each mission, which reaches it at `localhost`. */
export interface Service {
  name: string;
  image: string;
  variables: Variable[];
  /** Arguments that replace the command of the image; null means the command of the image. */
  command: string[] | null;
  /** Shell command in the container that succeeds once the service is ready; null means that a running container counts as ready. */
  healthCheck: string | null;
}

export interface TemplateSettings {
  name: string;
  base: TemplateBase;
  /** Container image, for the base `image`. */
  image: string | null;
  /** Dockerfile, for the base `dockerfile`; the built-in template shows the Dockerfile of the default image. */
  dockerfile: string | null;
  setupScript: string | null;
  variables: Variable[];
  services: Service[];
  setupNetwork: NetworkPolicy;
  agentNetwork: NetworkPolicy;
  labels: string[];
  /** Size of the instance; null means the memory of `standard-1`, without limits on CPUs and disk. */
  instanceType: InstanceTypeId | null;
  memoryMb: number | null;
  diskMb: number | null;
  processes: number | null;
  stepMinutes: number | null;
  stepModelCalls: number | null;
  stepTokens: number | null;
  /** Limits of a whole mission, used when the start of the mission sets none; null means the operator's maximum. */
  maxMinutes: number | null;
  maxModelCalls: number | null;
  maxTokens: number | null;
  effectPolicy: EffectPolicy | null;
}

/** The id of the built-in template, the same in every organization. */
export const standardTemplateId = builtinSandboxTemplate.key;

export const standardTemplate: TemplateSettings = {
  name: builtinSandboxTemplate.name,
  base: 'machine',
  image: null,
  dockerfile: builtinSandboxTemplate.dockerfile,
  setupScript: null,
  variables: [],
  services: [],
  setupNetwork: { mode: 'packages', hosts: [] },
  agentNetwork: { mode: 'packages', hosts: [] },
  labels: [],
  instanceType: null,
  memoryMb: null,
  diskMb: null,
  processes: null,
  stepMinutes: null,
  stepModelCalls: null,
  stepTokens: null,
  maxMinutes: null,
  maxModelCalls: null,
  maxTokens: null,
  effectPolicy: null,
};

const registryHosts = packageRegistries.flatMap(({ hosts }) => hosts);

/** The policy with all hosts that it allows; the list is empty for `open`, which allows every public host. */
export const resolvePolicy = ({ mode, hosts }: NetworkPolicy): NetworkPolicy => ({
  mode,
  hosts: mode === 'packages' ? [...new Set([...registryHosts, ...hosts])] : mode === 'custom' ? hosts : [],
});

export const allowsHost = (policy: NetworkPolicy, host: string, port: number): boolean =>
  policy.mode === 'open' || resolvePolicy(policy).hosts.some((rule) => namesHost(rule, host, port));

/** Adds the host to the policy, unless it is already allowed. @throws 409 for a full policy */
export function withHost(policy: NetworkPolicy, host: string, port: number): NetworkPolicy {
  if (allowsHost(policy, host, port)) return policy;
  if (policy.hosts.length >= templateCounts.hosts) {
    throw conflict(`A network policy can have at most ${templateCounts.hosts} hosts: remove one first.`);
  }
  const mode = policy.mode === 'none' ? 'custom' : policy.mode;
  return { mode, hosts: [...policy.hosts, hostRule(host, port)] };
}
