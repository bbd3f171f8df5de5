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

const limitsOf = ({ stepMinutes, stepModelCalls, stepTokens }: SandboxTemplate): string =>
  [
    stepMinutes && `${stepMinutes} minutes`,
    stepModelCalls && `${stepModelCalls} model calls`,
    stepTokens && `${stepTokens} tokens`,
  ]
    .filter(Boolean)
    .join(', ');

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
    'instance type': template.instanceType,
    memory: template.memoryMb === null ? null : `${template.memoryMb} MiB`,
    'of a step': limitsOf(template),
    updated: timeOf(template.updatedAt),
  });
}

interface Settings extends CommonOptions {
  image?: string;
  dockerfile?: string;
  setup?: string;
  network?: 'none' | 'packages' | 'custom' | 'open';
  allow?: string[];
  variable?: string[];
  instanceType?: NonNullable<SandboxTemplate['instanceType']>;
  stepMinutes?: number;
  stepModelCalls?: number;
  stepTokens?: number;
  services?: string;
}

/** @throws where the file has no list as JSON; the service checks its members. */
async function servicesIn(file: string): Promise<SandboxTemplate['services']> {
  const text = await readFile(file, 'utf8');
  try {
    const services = JSON.parse(text);
    if (Array.isArray(services)) return services;
  } catch {}
  throw new UserError(`${file}: must be a list of services as JSON.`);
}

/** `--setup`, `--dockerfile` and `--services` name files. */
async function settingsOf(settings: Settings) {
  const { image, dockerfile, setup, network, allow, variable, services } = settings;
  const { instanceType, stepMinutes, stepModelCalls, stepTokens } = settings;
  const hosts = allow ?? [];
  const policy = network || allow ? { mode: network ?? ('packages' as const), hosts } : undefined;
  const variables = variable?.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UserError(`${pair}: must be NAME=value.`);
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
  return {
    ...(image !== undefined && { base: 'image' as const, image }),
    ...(dockerfile !== undefined && { base: 'dockerfile' as const, dockerfile: await readFile(dockerfile, 'utf8') }),
    ...(setup !== undefined && { setupScript: await readFile(setup, 'utf8') }),
    ...(policy && { setupNetwork: policy, agentNetwork: policy }),
    ...(variables && { variables }),
    ...(instanceType && { instanceType }),
    ...(stepMinutes && { stepMinutes }),
    ...(stepModelCalls && { stepModelCalls }),
    ...(stepTokens && { stepTokens }),
    ...(services !== undefined && { services: await servicesIn(services) }),
  };
}

export async function create(options: Settings, name: string): Promise<void> {
  const client = await openClient(options.url);
  const template = await client.createSandboxTemplate({ name, ...(await settingsOf(options)) });
  if (options.json) printJson(template);
  else printLine(`Created ${paint('bold', template.name)}, ${template.id}.`);
}

export async function update(options: Settings, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id } = await findTemplate(client, wanted);
  const template = await client.updateSandboxTemplate({ templateId: id, ...(await settingsOf(options)) });
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

/** `asked` is a host with an optional port, as the run asked for it. */
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
