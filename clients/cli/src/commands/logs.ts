// The logs of a run: the session logs of its sandboxes, in order; with `--follow` also new content until the run has ended.
import type { Client } from '../../../typescript/src/exports.ts';
import { isOver } from '../follow.ts';
import { forTerminal, paint, plain, printError, printLine, toJson } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

const intervalMs = 1_000;

const sessionsQuery = `query ($runId: String!) {
  run(runId: $runId) { status sandboxes { sandboxId createdAt sessions { role sessionId ts } } }
}`;
const logQuery = `query ($sandboxId: String!, $role: AgentRole!, $sessionId: String!, $cursor: String) {
  sandboxLog(sandboxId: $sandboxId, role: $role, sessionId: $sessionId, part: session, cursor: $cursor) { content bytes nextCursor }
}`;

interface Session {
  sandboxId: string;
  role: string;
  sessionId: string;
}

interface Answer {
  run: {
    status: string;
    sandboxes: { sandboxId: string; createdAt: number; sessions: Omit<Session, 'sandboxId'>[] }[];
  };
}

interface Piece {
  content: string;
  bytes: number;
  nextCursor: string | null;
}

/** Number of log lines that are shown after a failed run. */
const lastLines = 20;

/** Prints the end of the newest session's log. A log that cannot be read, for example without the scope, is left out. */
export async function showLastLines(client: Client, runId: string): Promise<void> {
  const lines = await readLastLines(client, runId).catch(() => '');
  if (lines === '') return;
  printLine(paint('dim', `── last lines of the log; "aep logs ${runId}" has all`));
  printLine(forTerminal(lines));
}

async function readLastLines(client: Client, runId: string): Promise<string> {
  const session = (await sessionsOf(client, runId)).sessions.at(-1);
  if (!session) return '';
  const { sandboxLog } = await client.graphql<{ sandboxLog: Piece }>(logQuery, { ...session, cursor: null });
  return sandboxLog.content.trimEnd().split('\n').slice(-lastLines).join('\n').trim();
}

async function sessionsOf(client: Client, runId: string): Promise<{ status: string; sessions: Session[] }> {
  const { run } = await client.graphql<Answer>(sessionsQuery, { runId });
  const sessions = run.sandboxes
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .flatMap(({ sandboxId, sessions }) => sessions.map(({ role, sessionId }) => ({ sandboxId, role, sessionId })));
  return { status: run.status, sessions };
}

export async function showLogs(options: CommonOptions & { follow?: true }, runId: string): Promise<void> {
  const client = await openClient(options.url);
  /** Number of printed bytes of each session. */
  const printed = new Map<string, number>();
  for (;;) {
    const { status, sessions } = await sessionsOf(client, runId);
    for (const session of sessions) await printNew(client, session, printed, options);
    if (!options.follow || isOver(status)) {
      if (printed.size === 0) printError('The run has no logs yet.');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

async function printNew(client: Client, session: Session, printed: Map<string, number>, { json }: CommonOptions) {
  const key = Object.values(session).join(' ');
  const from = printed.get(key) ?? 0;
  const { content, bytes } = await readFrom(client, session, from);
  if (bytes === from) return;
  if (json) printLine(toJson({ ...session, content }));
  else {
    if (from === 0) printError(paint('dim', `── ${session.role} · ${plain(session.sessionId)}`, process.stderr));
    process.stdout.write(forTerminal(content));
  }
  printed.set(key, bytes);
}

/** The log from a byte offset on. Cursors lead from the newest piece to the oldest. */
async function readFrom(client: Client, session: Session, from: number): Promise<{ content: string; bytes: number }> {
  const pieces: Buffer[] = [];
  let total: number | null = null;
  let have = 0;
  for (let cursor: string | null = null; ; ) {
    const { sandboxLog }: { sandboxLog: Piece } = await client.graphql(logQuery, { ...session, cursor });
    total ??= sandboxLog.bytes;
    pieces.unshift(Buffer.from(sandboxLog.content));
    have += pieces[0]!.length;
    cursor = sandboxLog.nextCursor;
    if (!cursor || have >= total - from) break;
  }
  const all = Buffer.concat(pieces);
  return { content: all.subarray(Math.max(0, all.length - (total - from))).toString(), bytes: total };
}
