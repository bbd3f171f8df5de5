// The logs of runs: the session logs of their sandboxes, in order; with `--follow` also new content until each run has ended.
import type { Client } from '../../../typescript/src/exports.ts';
import { isOver } from '../follow.ts';
import { forTerminal, paint, plain, printError, printLine, toJson } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

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

interface LogOptions extends CommonOptions {
  follow?: true;
}

/** Maximum number of runs of one command. */
const maxRuns = 20;

/** Prints the logs of runs; with several runs, each line begins with the id of its run. */
export async function showLogs(options: LogOptions, runIds: string[]): Promise<void> {
  if (runIds.length > maxRuns) throw new UserError(`At most ${maxRuns} runs can be given.`);
  const client = await openClient(options.url);
  const ids = [...new Set(runIds)];
  await Promise.all(ids.map((runId) => showLog(client, runId, options, ids.length > 1)));
}

async function showLog(client: Client, runId: string, options: LogOptions, isLabeled: boolean): Promise<void> {
  /** How many bytes of each session have been printed. */
  const printed = new Map<string, number>();
  const print = isLabeled ? labeled(runId) : { text: (text: string) => void process.stdout.write(text), end: () => {} };
  for (;;) {
    const { status, sessions } = await sessionsOf(client, runId);
    for (const session of sessions) await printNew(client, { runId, ...session }, printed, options, print.text);
    if (!options.follow || isOver(status)) {
      print.end();
      if (printed.size === 0) printError(`${isLabeled ? runId : 'The run'} has no logs yet.`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

/** Writes whole lines, each after the id of the run. */
function labeled(runId: string) {
  let rest = '';
  const write = (line: string) => printLine(`${paint('cyan', runId)} ${line}`);
  return {
    text(text: string): void {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) write(line);
    },
    end: () => void (rest && write(rest)),
  };
}

async function printNew(
  client: Client,
  { runId, ...session }: Session & { runId: string },
  printed: Map<string, number>,
  { json }: CommonOptions,
  print: (text: string) => void,
): Promise<void> {
  const key = Object.values(session).join(' ');
  const from = printed.get(key) ?? 0;
  const { content, bytes } = await readFrom(client, session, from);
  if (bytes === from) return;
  if (json) printLine(toJson({ runId, ...session, content }));
  else {
    const header = `── ${session.role} · ${plain(session.sessionId)}`;
    if (from === 0) printError(paint('dim', header, process.stderr));
    print(forTerminal(content));
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
