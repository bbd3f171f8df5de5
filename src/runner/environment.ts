// Plan of an environment, from its template and the repository.
import type { Environment } from './contract.ts';
import type { HostSecret } from './network/host-secrets.ts';
import type { NetworkPolicy } from './network/policy.ts';
import { readDevcontainer, readText } from './workspace/devcontainer.ts';

export interface Plan {
  template: Environment;
  /** Image of containers; null means the image of the runner, or one built from `dockerfile`. */
  image: string | null;
  /** Text of a Dockerfile to build. */
  dockerfile: string | null;
  /** Shell commands of the setup, in order. */
  commands: string[];
  /** Variables for the setup and for agents. */
  variables: Record<string, string>;
  /** Secrets only for the setup, by name. */
  setupSecrets: Record<string, string>;
  /** Secrets that are added only to requests to certain hosts. */
  hostSecrets: readonly HostSecret[];
  network: { setup: NetworkPolicy; agent: NetworkPolicy };
  /** Messages for the log. */
  notes: string[];
}

/** Plans the environment. @param checkout A real path. @throws when a file of the repository cannot be read */
export async function planOf(template: Environment, checkout: string): Promise<Plan> {
  const devcontainer = await readDevcontainer(checkout);
  const notes: string[] = [];
  if (devcontainer && devcontainer.ignored.length > 0)
    notes.push(`devcontainer.json: ${devcontainer.ignored.join(', ')} has no effect here.`);
  const { secrets } = template;
  const chosen = { ...devcontainer?.variables, ...valuesOf(template.variables) };
  const refused = [...Object.keys(chosen), ...secrets.map(({ name }) => name)].filter((name) => actsOutside.test(name));
  if (refused.length > 0)
    notes.push(`Variables that the runner reserves for its own programs are omitted: ${refused.join(', ')}.`);
  const [image, dockerfile] = await baseOf(template, devcontainer, checkout);
  return {
    template,
    image,
    dockerfile,
    commands: [template.setupScript?.trim() ?? '', ...(devcontainer?.commands ?? [])].filter(Boolean),
    variables: withoutRefused(chosen),
    setupSecrets: withoutRefused(valuesOf(secrets.filter(({ setupOnly }) => setupOnly))),
    hostSecrets: secrets.filter(({ name, setupOnly }) => !setupOnly && !actsOutside.test(name)),
    network: { setup: template.setupNetwork, agent: template.agentNetwork },
    notes,
  };
}

/** Names of refused variables: the linker and the shells that start a cell would read them outside the cell. */
const actsOutside = /^(PATH|ENV|IFS|PS4|SHELLOPTS|GCONV_PATH|LOCPATH|NLSPATH|(LD|DYLD|BASH|GLIBC|MALLOC)_?\w*)$/;

export const withoutRefused = (variables: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !actsOutside.test(name)));

const valuesOf = (entries: { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(entries.map(({ name, value }) => [name, value]));

/** The template's image or Dockerfile takes precedence over the repository's. */
async function baseOf(
  template: Environment,
  devcontainer: Awaited<ReturnType<typeof readDevcontainer>>,
  checkout: string,
): Promise<[image: string | null, dockerfile: string | null]> {
  if (template.base === 'image') return [template.image, null];
  if (template.base === 'dockerfile') return [null, template.dockerfile];
  if (!devcontainer?.dockerfile) return [devcontainer?.image ?? null, null];
  const text = await readText(checkout, devcontainer.dockerfile);
  if (text === null) throw new Error(`devcontainer.json: there is no ${devcontainer.dockerfile}`);
  return [null, text];
}
