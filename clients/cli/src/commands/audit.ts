// The audit log: who changed what, when, with which credential and from where.
import type { AuditEvent } from '../../../typescript/src/exports.ts';
import { plain, printJson, printLine, printTable, timeOf, toJson } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { exportEntries } from './audit-verify.ts';

interface FilterOptions extends CommonOptions {
  actor?: string;
  action?: string;
  type?: string;
  target?: string;
  project?: string;
  /** Epoch milliseconds. */
  from?: number;
  before?: number;
}

const filterOf = ({ actor, action, type, target, project, from, before }: FilterOptions) => ({
  ...(actor && { actorId: actor }),
  ...(action && { action }),
  ...(type && { targetType: type }),
  ...(target && { targetId: target }),
  ...(project && { projectId: project }),
  ...(from !== undefined && { occurredFrom: from }),
  ...(before !== undefined && { occurredBefore: before }),
});

export async function list(options: FilterOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const { limit } = options;
  const events = await client.auditEvents({ ...filterOf(options), limit: Math.min(limit, 200) }).take(limit);
  if (options.json) return printJson(events);
  printTable(events, {
    number: ({ number }) => number,
    time: ({ occurredAt }) => timeOf(occurredAt),
    actor: actorOf,
    action: ({ action }) => action,
    target: ({ targets }) => targets[0]!.name ?? targets[0]!.id,
    changes: changesOf,
  });
}

const actorOf = ({ actor, onBehalfOf, operation }: AuditEvent): string => {
  const name = actor.name ?? actor.id ?? `${actor.type}${operation ? ` (${operation})` : ''}`;
  return onBehalfOf ? `${name} for ${onBehalfOf.name ?? onBehalfOf.id}` : name;
};

/** The values that a change replaced; a new or deleted record is shown by its name alone. */
const changesOf = ({ changes }: AuditEvent): string =>
  changes
    .filter(({ before, after }) => before !== null && after !== null)
    .map(({ path, before, after }) => `${path}: ${shown(before)} → ${shown(after)}`)
    .join(', ')
    .slice(0, 100);

const shown = (value: unknown): string => (typeof value === 'string' ? value : toJson(value)).slice(0, 40);

const columns = [
  'number',
  'occurredAt',
  'action',
  'actorType',
  'actorId',
  'actorName',
  'onBehalfOfId',
  'credentialId',
  'surface',
  'operation',
  'requestId',
  'traceId',
  'sourceAddress',
  'projectId',
  'targetType',
  'targetId',
  'targetName',
  'changes',
  'personalValues',
] as const;

/** Prints the events page by page, oldest first, so that memory does not grow with the length of the log. */
export async function exportAll(options: FilterOptions & { format: 'jsonl' | 'csv' | 'entries' }): Promise<void> {
  const client = await openClient(options.url);
  if (options.format === 'entries') {
    if (Object.keys(filterOf(options)).length > 0)
      throw new UserError('--format entries exports the whole log, without filters.');
    return exportEntries(client);
  }
  if (options.format === 'csv') printLine(columns.join(','));
  for await (const event of client.auditEvents({ ...filterOf(options), limit: 200, order: 'oldest' })) {
    printLine(options.format === 'csv' ? lineOf(event) : toJson(event));
  }
}

function lineOf(event: AuditEvent): string {
  const [target] = event.targets;
  const values: Record<(typeof columns)[number], unknown> = {
    ...event,
    occurredAt: new Date(event.occurredAt).toISOString(),
    ...{ actorType: event.actor.type, actorId: event.actor.id, actorName: event.actor.name },
    onBehalfOfId: event.onBehalfOf?.id,
    ...{ targetType: target!.type, targetId: target!.id, targetName: target!.name },
    changes: toJson(event.changes),
  };
  return columns.map((column) => cellOf(values[column])).join(',');
}

/** A cell in the format of RFC 4180. A text that a spreadsheet would execute as a formula gets an apostrophe in front. */
function cellOf(value: unknown): string {
  const text = plain(String(value ?? '')).replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
