// Sandbox templates: list, show, create, change, delete, and allow a host that was blocked.
import { readFile } from 'node:fs/promises';
import type { SandboxTemplate } from '../../../typescript/src/exports.ts';
import { paint, printJson, printLine, printRecord, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';

type Client = Awaited<ReturnType<typeof openClient>>;

/** Finds a template by id or name. @throws when there is none */
export async function findTemplate(client: Client, wanted: string): Promise<SandboxTemplate> {
  if (wanted === 'standard' || wanted.startsWith('sbt_')) return client.sandboxTemplate({ templateId: wanted });
  for await (const template of client.sandboxTemplates({ limit: 100 })) if (template.name === wanted) return template;
  throw new UserError(`There is no template ${wanted}. "aep templates list" shows ids.`);
}

export async function list(options: CommonOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const templates = await client.sandboxTemplates({ limit: Math.min(options.limit, 100) }).take(options.limit);
  if (options.json) return printJson(templates);
  printTable(templates, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    base: ({ base, image }) => image ?? base,
    setup: ({ setupScript }) => (setupScript ? 'script' : ''),
    'setup network': ({ setupNetwork }) => setupNetwork.mode,
    'agent network': ({ agentNetwork }) => agentNetwork.mode,
  });
}

/** The limits of the template as text. */
const limitsOf = (limits: readonly [value: number | null, unit: string][]): string =>
  limits.flatMap(([value, unit]) => (value === null ? [] : [`${value} ${unit}`])).join(', ');

export async function show(options: CommonOptions, wanted: string): Promise<void> {
  const template = await findTemplate(await openClient(options.url), wanted);
  if (options.json) return printJson(template);
  const network = ({ mode, hosts }: SandboxTemplate['setupNetwork']) => [mode, ...hosts].join(' ');
  printRecord({
    id: template.id,
    name: template.name,
    description: template.description,
    base: template.image ?? template.base,
    setup: template.setupScript,
    variables: template.variables.map(({ name, value }) => `${name}=${value}`).join(' '),
    services: template.services.map(({ name, image }) => `${name} (${image})`).join(', '),
    'setup network': network(template.setupNetwork),
    'agent network': network(template.agentNetwork),
    labels: template.labels.join(', '),
    'instance type': template.instanceType,
    'of a mission': limitsOf([
      [template.memoryMb, 'MiB of memory'],
      [template.diskMb, 'MiB of disk'],
      [template.processes, 'processes'],
      [template.maxMinutes, 'minutes'],
      [template.maxModelCalls, 'model calls'],
      [template.maxTokens, 'tokens'],
    ]),
    'of a step': limitsOf([
      [template.stepMinutes, 'minutes'],
      [template.stepModelCalls, 'model calls'],
      [template.stepTokens, 'tokens'],
    ]),
    updated: timeOf(template.updatedAt),
  });
}

type Mode = 'none' | 'packages' | 'custom' | 'open';

/** Each of these names is the name of a field of a sandbox template and also the name of the command-line option that sets the field. */
const sameNames = [
  ...(['description', 'instanceType', 'memoryMb', 'diskMb', 'processes', 'stepMinutes', 'stepModelCalls'] as const),
  ...(['stepTokens', 'maxMinutes', 'maxModelCalls', 'maxTokens'] as const),
];

type Same = (typeof sameNames)[number];
/** Parses a setting that can be restored to its default. */
type OrNone = { [name in Same]?: NonNullable<SandboxTemplate[name]> | 'none' };

interface Settings extends CommonOptions, OrNone {
  image?: string;
  dockerfile?: string;
  machine?: true;
  setup?: string;
  network?: Mode;
  allow?: string[];
  setupNetwork?: Mode;
  setupAllow?: string[];
  variable?: string[];
  services?: string;
  label?: string[];
}

const policyOf = (mode: Mode | undefined, hosts: string[] | undefined) =>
  mode || hosts ? { mode: mode ?? ('packages' as const), hosts: hosts ?? [] } : undefined;

/** Reads services from a file; the service validates their members. @throws when the file is not a JSON list */
async function servicesIn(file: string): Promise<SandboxTemplate['services']> {
  const text = await readFile(file, 'utf8');
  try {
    const services = JSON.parse(text);
    if (Array.isArray(services)) return services;
  } catch {}
  throw new UserError(`${file}: must be a list of services as JSON.`);
}

const sameOf = (settings: Settings): { [name in Same]?: SandboxTemplate[name] } =>
  Object.fromEntries(
    sameNames.flatMap((name) => {
      const value = settings[name];
      return value === undefined ? [] : [[name, value === 'none' ? null : value]];
    }),
  );

/** `--setup`, `--dockerfile` and `--services` name files. */
async function settingsOf(settings: Settings) {
  const { image, dockerfile, machine, setup, network, allow, setupNetwork, setupAllow, variable, services, label } =
    settings;
  const agents = policyOf(network, allow);
  const ofSetup = policyOf(setupNetwork, setupAllow) ?? agents;
  const variables = variable?.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UserError(`${pair}: must be NAME=value.`);
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
  return {
    ...sameOf(settings),
    ...(machine && { base: 'machine' as const }),
    ...(image !== undefined && { base: 'image' as const, image }),
    ...(dockerfile !== undefined && { base: 'dockerfile' as const, dockerfile: await readFile(dockerfile, 'utf8') }),
    ...(setup !== undefined && { setupScript: await readFile(setup, 'utf8') }),
    ...(agents && { agentNetwork: agents }),
    ...(ofSetup && { setupNetwork: ofSetup }),
    ...(variables && { variables }),
    ...(label && { labels: label.filter(Boolean) }),
    ...(services !== undefined && { services: await servicesIn(services) }),
  };
}

export async function create(options: Settings, name: string): Promise<void> {
  const client = await openClient(options.url);
  const template = await client.createSandboxTemplate({ name, ...(await settingsOf(options)) });
  if (options.json) printJson(template);
  else printLine(`Created ${paint('bold', template.name)}, ${template.id}.`);
}

export async function update(options: Settings & { name?: string }, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id } = await findTemplate(client, wanted);
  const name = options.name === undefined ? {} : { name: options.name };
  const template = await client.updateSandboxTemplate({ templateId: id, ...name, ...(await settingsOf(options)) });
  if (options.json) printJson(template);
  else printLine(`Changed ${paint('bold', template.name)}.`);
}

export async function choose(options: CommonOptions, project: string, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id: projectId } = await findProject(client, project);
  const { id, name } = await findTemplate(client, wanted);
  const changed = await client.updateProject({ projectId, defaultSandboxTemplateId: id });
  if (options.json) printJson(changed);
  else printLine(`Missions of ${paint('bold', changed.name)} use ${paint('bold', name)} from now on.`);
}

/** Allows a blocked host. `asked` is the host with an optional port, as the run requested it. */
export async function allow(options: CommonOptions & { setup?: boolean }, runId: string, asked: string): Promise<void> {
  const [, host, port = '443'] = /^(.+?)(?::(\d+))?$/.exec(asked) ?? [];
  if (host === undefined) throw new UserError(`${asked}: must be a host, or host:port.`);
  const client = await openClient(options.url);
  const phase = options.setup ? ('setup' as const) : ('agent' as const);
  const template = await client.allowHost({ runId, host, port: Number(port), phase });
  if (options.json) printJson(template);
  else printLine(`${paint('bold', template.name)} allows ${asked}, from the next step of each mission on.`);
}

export async function remove(options: CommonOptions, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id, name } = await findTemplate(client, wanted);
  const answer = await client.deleteSandboxTemplate({ templateId: id });
  if (options.json) printJson(answer);
  else printLine(`Deleted ${paint('bold', name)}.`);
}
