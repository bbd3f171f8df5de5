// Rules for events of an automation or scheduled task: list, add, remove. Uses GraphQL, because REST has no rules.
import { printJson, printLine, printTable } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findTemplate } from './templates.ts';

const members = ['label', 'assignee', 'mention', 'branch', 'hookId', 'filter', 'key', 'template', 'outsiderTemplateId'];

interface Rule extends Record<string, string | null | undefined> {
  kind: string;
  from: string;
}
interface Mission {
  updatedAt: number;
  eventTriggers: Rule[];
}

const selection = `{ updatedAt eventTriggers { kind from ${members.join(' ')} } }`;
/**
 * Maps the prefix of a record's id to two texts. The first text completes the names of the GraphQL fields that read and update the record,
 * such as `automation` and `updateAutomation`. It lacks the first letter of the record's name, because that letter is lower case in one field
 * and upper case in the other. The second text is the name of the argument that takes the id in both fields.
 */
const fields: Readonly<Record<string, readonly [string, string]>> = {
  aut: ['utomation', 'automationId'],
  sch: ['cheduledTask', 'id'],
};

async function openRules(options: CommonOptions, id: string) {
  const client = await openClient(options.url);
  const [name, argument] = fields[id.slice(0, 3)] ?? [];
  if (!name) throw new UserError(`${id} is not the id of an automation or a scheduled task.`);
  const first = id[0]!;
  const { mission } = await client.graphql<{ mission: Mission }>(
    `query ($id: String!) { mission: ${first}${name}(${argument}: $id) ${selection} }`,
    { id },
  );
  const write = `mutation ($id: String!, $input: UpdateScheduledTaskRequest!, $seen: EpochMs) {
    mission: update${first.toUpperCase()}${name}(${argument}: $id, input: $input, ifUpdatedAt: $seen) ${selection} }`;
  return {
    client,
    rules: mission.eventTriggers,
    save: async (eventTriggers: Rule[]): Promise<void> => {
      const variables = { id, input: { eventTriggers }, seen: mission.updatedAt };
      const { mission: after } = await client.graphql<{ mission: Mission }>(write, variables);
      show(options, after.eventTriggers);
    },
  };
}

function show({ json }: CommonOptions, rules: readonly Rule[]): void {
  if (json) {
    printJson(rules);
    return;
  }
  const rows = rules.map((rule, row) => ({ rule, row }));
  printTable(rows, {
    rule: ({ row }) => String(row + 1),
    event: ({ rule }) => rule.kind,
    from: ({ rule }) => rule.from,
    conditions: ({ rule }) =>
      members.flatMap((name) => (rule[name] == null ? [] : `${name}: ${rule[name]}`)).join(', '),
  });
}

export const list = async (options: CommonOptions, id: string): Promise<void> =>
  show(options, (await openRules(options, id)).rules);

interface NewRule extends CommonOptions {
  on: string;
  from: string;
  label?: string;
  assignee?: string;
  mention?: string;
  branch?: string;
  hook?: string;
  filter?: string;
  key?: string;
  text?: string;
  outsiderTemplate?: string;
}

export async function add(options: NewRule, id: string): Promise<void> {
  const { client, rules, save } = await openRules(options, id);
  const { on: kind, from, label, assignee, mention, branch, filter, key, hook: hookId, text: template } = options;
  const { outsiderTemplate: wanted } = options;
  const outsiderTemplateId = wanted && (await findTemplate(client, wanted)).id;
  const rule = { kind, from, label, assignee, mention, branch, hookId, filter, key, template, outsiderTemplateId };
  await save([...rules, rule]);
}

export async function remove(options: CommonOptions, id: string, row: number): Promise<void> {
  const { rules, save } = await openRules(options, id);
  if (row > rules.length) throw new UserError(`There is no rule ${row}: "aep rules list ${id}" shows them.`);
  await save(rules.toSpliced(row - 1, 1));
  if (!options.json && rules.length === 1) printLine(`${id} has no more rules: events no longer start its missions.`);
}
