// Secrets and variables of agents: list, set and delete. Values come from standard input or a prompt, never from the command line, which
// other programs and the history of the shell can read.
import type { Secret } from '../../../typescript/src/exports.ts';
import { readHidden, readPiped } from '../hidden-input.ts';
import { paint, printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';
import { findTemplate } from './templates.ts';

type Client = Awaited<ReturnType<typeof openClient>>;

interface PlaceOptions extends CommonOptions {
  project?: string;
  template?: string;
}

/** The scope of the options: a project, a template, or else the organization. */
async function placeOf(client: Client, { project, template }: PlaceOptions) {
  if (project && template) throw new UserError('Choose --project or --template, not both.');
  if (project) return { scope: 'project' as const, projectId: (await findProject(client, project)).id };
  if (template) return { scope: 'template' as const, templateId: (await findTemplate(client, template)).id };
  return { scope: 'organization' as const };
}

async function findSecret(client: Client, place: Awaited<ReturnType<typeof placeOf>>, name: string) {
  for await (const secret of client.secrets({ ...place, limit: 100 })) if (secret.name === name) return secret;
  return undefined;
}

const useOf = ({ kind, setupOnly, hosts }: Secret): string =>
  kind === 'variable' ? 'variable' : setupOnly ? 'secret for the setup' : `secret for ${hosts.join(' ')}`;

export async function list(options: PlaceOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const place = options.project || options.template ? await placeOf(client, options) : {};
  const secrets = await client.secrets({ ...place, limit: Math.min(options.limit, 100) }).take(options.limit);
  if (options.json) return printJson(secrets);
  printTable(secrets, {
    name: ({ name }) => name,
    use: useOf,
    scope: ({ scope, projectId, templateId }) => projectId ?? templateId ?? scope,
    'last used': ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : timeOf(lastUsedAt)),
    updated: ({ updatedAt }) => timeOf(updatedAt),
  });
}

interface SetOptions extends PlaceOptions {
  setup?: true;
  host?: string[];
  variable?: true;
}

export async function set(options: SetOptions, name: string): Promise<void> {
  const { setup, host, variable } = options;
  if ([setup, host, variable].filter(Boolean).length > 1) {
    throw new UserError('Choose one of --setup, --host and --variable.');
  }
  const client = await openClient(options.url);
  const place = await placeOf(client, options);
  const before = await findSecret(client, place, name);
  if (!before && !setup && !host && !variable) {
    throw new UserError(`${name} is new: add --setup, --host <host> or --variable to say who gets it.`);
  }
  if (before && (before.kind === 'variable') !== (variable ?? before.kind === 'variable')) {
    throw new UserError(`${name} is a ${before.kind}: delete it first.`);
  }
  const use = setup || host ? { setupOnly: setup ?? false, hosts: host ?? [] } : {};
  const value = (await readPiped()) ?? (await readHidden(`Value of ${name}`));
  const secret = before
    ? await client.updateSecret({ secretId: before.id, value, ...use })
    : await client.createSecret({ ...place, kind: variable ? 'variable' : 'secret', name, value, ...use });
  if (options.json) printJson(secret);
  else printLine(`Set ${paint('bold', name)}, a ${useOf(secret)}. Missions get it from their next step on.`);
}

export async function remove(options: PlaceOptions, name: string): Promise<void> {
  const client = await openClient(options.url);
  const found = await findSecret(client, await placeOf(client, options), name);
  if (!found) throw new UserError(`There is no ${name} here. "aep secrets list" shows names.`);
  const answer = await client.deleteSecret({ secretId: found.id });
  if (options.json) printJson(answer);
  else printLine(`Deleted ${paint('bold', name)}.`);
}
