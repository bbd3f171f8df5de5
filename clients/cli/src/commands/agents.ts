// Agents and their versions. Uses GraphQL, because REST has no versions.
import { plain, printJson, printRecord, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

export async function list(options: CommonOptions & { role?: string; limit: number }): Promise<void> {
  const role = options.role as 'builder' | undefined;
  const found = await (await openClient(options.url)).agents(role ? { role } : {}).take(options.limit);
  if (options.json) return printJson(found);
  printTable(found, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    role: ({ role }) => role,
    harness: ({ harness }) => harness,
    model: ({ model }) => model,
    'built in': ({ isBuiltin }) => (isBuiltin ? 'yes' : 'no'),
  });
}

interface Version {
  number: number;
  harness: string;
  model: string;
  effort: string | null;
  note: string | null;
  author: string | null;
  createdAt: number;
}

export async function versions(options: CommonOptions & { limit: number }, agentId: string): Promise<void> {
  const query = `query ($agentId: String!, $limit: Int!) {
    agent(agentId: $agentId) { version trialVersion trialPercent }
    agentVersions(agentId: $agentId, limit: $limit) { data {
      id number name role harness model effort sandboxTemplateId userPrompt skillRepos note author authorUserId createdAt } } }`;
  const { agent, agentVersions } = await (await openClient(options.url)).graphql<{
    agent: { version: number; trialVersion: number | null; trialPercent: number | null };
    agentVersions: { data: Version[] };
  }>(query, { agentId, limit: Math.min(options.limit, 200) });
  if (options.json) return printJson(agentVersions.data);
  const use = ({ number }: Version): string => {
    if (number === agent.version) return 'in use';
    return number === agent.trialVersion ? `${agent.trialPercent} %` : '';
  };
  printTable(agentVersions.data, {
    version: ({ number }) => `${number}`,
    use,
    harness: ({ harness }) => harness,
    model: ({ model, effort }) => (effort ? `${model}, ${effort}` : model),
    author: ({ author }) => plain(author ?? ''),
    created: ({ createdAt }) => timeOf(createdAt),
    note: ({ note }) => plain(note ?? '').slice(0, 60),
  });
}

const agentFields = '{ id name version trialVersion trialPercent }';

async function change(options: CommonOptions, name: string, parameters: string, variables: object): Promise<void> {
  const given = [...parameters.matchAll(/\$(\w+)/g)].map(([, one]) => `${one}: $${one}`).join(', ');
  const query = `mutation (${parameters}) { ${name}(${given}) ${agentFields} }`;
  const client = await openClient(options.url);
  const changed = (await client.graphql<Record<string, object>>(query, { ...variables }))[name]!;
  if (options.json) return printJson(changed);
  printRecord(changed as Record<string, string | number | null>);
}

export const restore = (options: CommonOptions & { note?: string }, agentId: string, number: number): Promise<void> =>
  change(options, 'restoreAgentVersion', '$agentId: String!, $number: Int!, $note: String', {
    agentId,
    number,
    note: options.note,
  });

export const tryVersion = (
  options: CommonOptions & { percent: number },
  agentId: string,
  number: number,
): Promise<void> =>
  change(options, 'startAgentTrial', '$agentId: String!, $input: StartAgentTrialRequest!', {
    agentId,
    input: { number, percent: options.percent },
  });

export const endTrial = (options: CommonOptions & { promote?: boolean }, agentId: string): Promise<void> =>
  change(options, 'endAgentTrial', '$agentId: String!, $promote: Boolean!', {
    agentId,
    promote: options.promote ?? false,
  });
