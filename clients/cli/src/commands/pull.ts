// Brings the work of a mission into a checkout of this person: branch, uncommitted files and sessions, from the newest
// checkpoint.
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../../../typescript/src/exports.ts';
import { type AgentSession, readSessions, resumeCommand, writeSession } from '../agent-sessions.ts';
import { checkOut, fetchBundle, findCheckout } from '../checkout.ts';
import { recordCheckpoint } from '../local-work.ts';
import { plain, printError, printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { download } from './artifacts.ts';

interface Checkpoint {
  commitSha: string;
  createdAt: number;
  artifact: { url: string | null } | null;
}
interface Step {
  role: string;
  harness: string;
  sessionId: string | null;
  checkpoint: Checkpoint | null;
}
interface PulledRun {
  branch: string | null;
  finishedAt: number | null;
  steps: Step[];
}
const query = `query ($runId: String!) { run(runId: $runId) {
  branch finishedAt steps { role harness sessionId checkpoint { commitSha createdAt artifact { url } } }
} }`;

/** The run with its branch and the step of its newest checkpoint. */
export async function readPulled(client: Client, runId: string) {
  const { branch, finishedAt, steps } = (await client.graphql<{ run: PulledRun }>(query, { runId })).run;
  const last = steps.findLastIndex(({ checkpoint }) => checkpoint !== null);
  if (last < 0)
    throw new UserError(
      `${runId} has no checkpoint: an agent has its first after two minutes, and a script never has one.`,
    );
  const step = steps[last] as Step & { checkpoint: Checkpoint };
  return { branch: branch ?? `mission/${runId}`, finishedAt, step, steps: steps.slice(0, last + 1) };
}

export async function pull(options: CommonOptions & { directory: string }, runId: string): Promise<void> {
  const client = await openClient(options.url);
  const folder = await findCheckout(options.directory);
  const { branch, finishedAt, step, steps } = await readPulled(client, runId);
  const { commitSha, createdAt } = step.checkpoint;
  const bundle = await fetchCheckpoint(folder, step);
  try {
    const found = await readSessions(folder, bundle.sessions);
    const taken = await checkOut(folder, bundle.work, branch);
    await recordCheckpoint(folder, branch, commitSha);
    const sessions = [];
    for (const session of found) sessions.push({ ...session, ...(await writeSession(folder, session)) });
    const resume = resumeCommand(chooseSession(steps, found));
    const files = sessions.map(({ id, file, state }) => ({ id, file, state }));
    if (options.json)
      return printJson({ runId, branch, folder, commitSha, createdAt, ...taken, sessions: files, resume });
    printLine(`${branch} is at ${taken.headSha.slice(0, 7)} in ${folder}. Uncommitted files: ${taken.uncommitted}.`);
    for (const { file } of sessions.filter(({ state }) => state === 'differs'))
      printError(
        `${plain(file)} differs from the file of the mission and was kept: remove it and pull again to get the mission’s file.`,
      );
    if (resume) printLine(`Continue the session of the agent in that folder: ${resume}`);
    else printLine('The checkpoint has no session that can be resumed: only Claude Code and Codex leave one.');
    if (finishedAt === null) printLine(`The mission is still running: its later changes are not included.`);
  } finally {
    await bundle.forget();
  }
}

export async function fetchCheckpoint(folder: string, { checkpoint }: { checkpoint: Checkpoint }) {
  const { artifact, commitSha } = checkpoint;
  if (!artifact?.url) throw new UserError('The checkpoint has expired.');
  const temporary = await mkdtemp(path.join(tmpdir(), 'aep-pull-'));
  try {
    const file = path.join(temporary, 'checkpoint.bundle');
    await pipeline(await download(artifact.url), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    return await fetchBundle(folder, file, commitSha);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The session of the builder is the one to continue, even if a reviewer worked after the builder. */
function chooseSession(steps: readonly Step[], sessions: readonly AgentSession[]): AgentSession | undefined {
  const builders = steps.filter(({ role }) => role === 'builder');
  for (const { sessionId } of (builders.length > 0 ? builders : steps).toReversed()) {
    const session = sessions.find(({ id }) => id === sessionId);
    if (session) return session;
  }
  // A step has no session id before it ends.
  return sessions.length === 1 ? sessions[0] : undefined;
}
