// Resources that a client can attach to a conversation, by URI: projects, runs, sandboxes with their logs, artifacts with their contents
// (MCP 2025-11-25, Server Features: Resources).
import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { invalid } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import type { Calls, ToolRecord } from './call.ts';

const pageSize = 50;

type Contents = ReadResourceResult['contents'][number];
type Names = Record<string, string>;

interface Kind {
  template: ResourceTemplateType;
  /** Name of the tool that reads the record. */
  tool: string;
  read(calls: Calls, uri: string, names: Names): Promise<Contents>;
}

const json = 'application/json';

/** A record as JSON, as returned by the tool. */
const recordKind = (noun: string, plural: string, description: string): Kind => ({
  template: {
    uriTemplate: `aep://${plural}/{${noun}Id}`,
    name: noun,
    title: titled(noun),
    description,
    mimeType: json,
  },
  tool: `get_${noun}`,
  read: async (calls, uri, names) => ({
    uri,
    mimeType: json,
    text: JSON.stringify(await calls.call(`get_${noun}`, names)),
  }),
});

const titled = (noun: string): string => noun.charAt(0).toUpperCase() + noun.slice(1);

const kinds: readonly Kind[] = [
  recordKind('project', 'projects', 'A project: its repository, its tracker, its status.'),
  recordKind('run', 'runs', 'A run: its status and reason, its progress, its cost.'),
  recordKind('sandbox', 'sandboxes', 'A sandbox: its metrics, its sessions, the work of its agent.'),
  {
    template: {
      uriTemplate: 'aep://sandboxes/{sandboxId}/logs/{role}/{sessionId}/{part}',
      name: 'sandbox-log',
      title: 'Sandbox log',
      description:
        'The newest piece of one part of the log of a session, up to 1 MiB. get_sandbox_log reads older ones.',
      mimeType: 'text/plain',
    },
    tool: 'get_sandbox_log',
    read: async (calls, uri, names) => {
      const { content } = await calls.call('get_sandbox_log', names);
      return { uri, mimeType: 'text/plain', text: content };
    },
  },
  recordKind('artifact', 'artifacts', 'Proof of work, with the address of its content.'),
  {
    template: {
      uriTemplate: 'aep://artifacts/{artifactId}/content',
      name: 'artifact-content',
      title: 'Content of an artifact',
      description: 'The content itself, up to 1 MiB. A larger one is downloaded from the url of the artifact.',
    },
    tool: 'get_artifact',
    read: readArtifactContent,
  },
];

/** The tool that reads a resource; undefined for an invalid URI. */
export const toolOfResource = (uri: string): string | undefined => match(uri)?.kind.tool;

export const listTemplates = (calls: Calls): ResourceTemplateType[] =>
  kinds.filter(({ tool }) => calls.may(tool)).map(({ template }) => template);

export const hasTemplate = (uriTemplate: string): boolean =>
  kinds.some(({ template }) => template.uriTemplate === uriTemplate);

/** Reads a resource. @throws ResourceNotFoundError for an invalid URI, and the problems of the tool that reads the resource */
export async function readResource(calls: Calls, uri: string): Promise<Contents> {
  const found = match(uri);
  if (!found) throw new ResourceNotFoundError(uri);
  return found.kind.read(calls, uri, found.names);
}

function match(uri: string): { kind: Kind; names: Names } | undefined {
  for (const kind of kinds) {
    const pattern = kind.template.uriTemplate.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#]+)');
    const groups = new RegExp(`^${pattern}$`).exec(uri)?.groups;
    if (!groups) continue;
    try {
      const names = Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]);
      return { kind, names: Object.fromEntries(names) };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

async function readArtifactContent(
  { call, readContent }: Calls,
  uri: string,
  { artifactId }: Names,
): Promise<Contents> {
  // The call of the tool checks that the caller may read the artifact.
  const { contentType: mimeType, sizeBytes, url } = await call('get_artifact', { artifactId });
  if (sizeBytes > bytes.mcpContent) {
    throw invalid(`The content has ${sizeBytes} bytes; the maximum is ${bytes.mcpContent}. Download it from ${url}`);
  }
  const content = await readContent(artifactId!);
  if (!content) throw new ResourceNotFoundError(uri);
  const text = /^text\/|[/+](?:json|xml|javascript)\b/.test(mimeType) ? readable(content) : null;
  return text === null ? { uri, mimeType, blob: content.toString('base64') } : { uri, mimeType, text };
}

function readable(content: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null;
  }
}

/** Lists of records that together form the list of resources, in this order. */
const lists: readonly { noun: string; tool: string; entry(record: ToolRecord): [id: string, name: string] }[] = [
  { noun: 'projects', tool: 'list_projects', entry: ({ id, name }) => [id, name] },
  {
    noun: 'runs',
    tool: 'list_runs',
    entry: ({ id, missionTitle, status }) => [id, `${missionTitle ?? 'Run'} (${status})`],
  },
  {
    noun: 'sandboxes',
    tool: 'list_sandboxes',
    entry: ({ sandboxId, role, status }) => [sandboxId, `${titled(role)} (${status})`],
  },
  { noun: 'artifacts', tool: 'list_artifacts', entry: ({ id, caption, kind }) => [id, caption ?? kind] },
];

/** One page of one list, newest first; the cursor leads through all lists, one after the other. @throws 400 for an invalid cursor */
export async function listResources(calls: Calls, cursor: string | undefined): Promise<ListResourcesResult> {
  const offeredLists = lists.filter(({ tool }) => calls.may(tool));
  const [, noun, inner] = /^(\w+)(?:\.(.+))?$/.exec(cursor ?? offeredLists[0]?.noun ?? '') ?? [];
  let at = offeredLists.findIndex((list) => list.noun === noun);
  if (cursor !== undefined && at < 0) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'cursor: is invalid.');
  let after = inner ?? null;
  for (; at >= 0 && at < offeredLists.length; at++, after = null) {
    const { noun, tool, entry } = offeredLists[at]!;
    const { data, nextCursor } = await calls.call(tool, { limit: pageSize, cursor: after });
    const next = nextCursor ? `${noun}.${nextCursor}` : offeredLists[at + 1]?.noun;
    if (data.length === 0 && next) continue;
    const resources = (data as ToolRecord[]).map((record) => {
      const [id, title] = entry(record);
      return { uri: `aep://${noun}/${encodeURIComponent(id)}`, name: id, title, mimeType: json };
    });
    return { resources, ...(next && { nextCursor: next }) };
  }
  return { resources: [] };
}
