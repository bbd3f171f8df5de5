// The inbox: items that wait for the person, and hidden items.
import type { InboxItem } from '../../../typescript/src/exports.ts';
import { printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

interface ListOptions extends CommonOptions {
  mine?: true;
  hidden?: true;
  limit: number;
}

export async function list(options: ListOptions): Promise<void> {
  const { mine, hidden, limit } = options;
  const client = await openClient(options.url);
  const filter = { ...(mine && { mine }), ...(hidden && { hidden }), limit: Math.min(limit, 200) };
  const items = await client.inbox(filter).take(limit);
  if (options.json) return printJson(items);
  if (items.length === 0) return printLine(hidden ? 'Nothing is hidden.' : 'Nothing waits for you.');
  printTable(items, {
    item: ({ id }) => id,
    since: ({ since }) => timeOf(since),
    title: ({ title, runId }) => (title ?? runId ?? '').slice(0, 40),
    detail: ({ detail }) => (detail ?? '').slice(0, 50),
    next: nextCommand,
  });
}

/** The command that acts on the item. */
function nextCommand({ kind, runId, question }: InboxItem): string {
  switch (kind) {
    case 'approval':
      return `aep approve ${runId}`;
    case 'answer':
      return `aep answer ${runId} --question ${question!.sandboxId}/${question!.seq} TEXT`;
    case 'decision':
      return `aep answer ${runId} --question ${question!.sandboxId}/${question!.seq} --approve`;
    case 'budget':
      return `aep budget ${runId} USD`;
    case 'limit':
      return `aep limits ${runId} --max-minutes N`;
    case 'attempts':
      return `aep attempts ${runId}`;
    case 'effects':
      return `aep effects ${runId}`;
    case 'review':
      return `aep diff ${runId}`;
    case 'failure':
      return `aep logs ${runId}`;
    default:
      return 'aep open';
  }
}

interface DoneOptions extends CommonOptions {
  /** Epoch milliseconds. */
  until?: number;
}

export async function done(options: DoneOptions, itemId: string): Promise<void> {
  const { until } = options;
  const client = await openClient(options.url);
  const item = await client.markInboxItemDone({ itemId, ...(until !== undefined && { until }) });
  if (options.json) return printJson(item);
  printLine(until === undefined ? `${item.id} is done.` : `${item.id} comes back at ${timeOf(until)} UTC.`);
}

export async function undo(options: CommonOptions, itemId: string): Promise<void> {
  const item = await (await openClient(options.url)).restoreInboxItem({ itemId });
  if (options.json) return printJson(item);
  printLine(`${item.id} is in the inbox again.`);
}
