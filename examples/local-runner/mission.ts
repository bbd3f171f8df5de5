// One mission, from its claim to its end, with the shell harness: the prompt is a script, and a child process runs it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';
import { openJournal } from './journal.ts';
import { meter, type Sample } from './measure.ts';
import { type Platform, Refusal } from './platform.ts';
import { openPreview, type Preview } from './preview.ts';
import { wordOf } from './words.ts';

export interface Claimed {
  runId: string;
  leaseId: string;
  missionTitle: string | null;
  prompt: string;
  repoFullName: string;
  instanceType: string;
  agent: { role: string; harness: string };
}
export const claimed = '{ runId leaseId missionTitle prompt repoFullName instanceType agent { role harness } }';

/** Milliseconds. */
export interface Pace {
  heartbeat: number;
  sample: number;
  flush: number;
  /** From asking a script to stop to ending it. */
  grace: number;
  timeout: number;
}

/** Does what was claimed. When `leaving` aborts, the run is handed back. */
export async function carryOut(platform: Platform, run: Claimed, pace: Pace, leaving: AbortSignal): Promise<void> {
  const held = { runId: run.runId, leaseId: run.leaseId };
  const folder = await mkdtemp(path.join(tmpdir(), 'mission-'));
  try {
    await work(platform, run, held, folder, pace, leaving);
  } catch (error) {
    // The run is somebody else's by now: there is nothing more to say about it.
    if (error instanceof Refusal && error.code === 'lease_lost') return;
    await platform.say('finishRun', {
      ...held,
      status: 'failed',
      error: `The runner failed: ${(error as Error).message}`.slice(0, 2_000),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function work(
  platform: Platform,
  run: Claimed,
  held: { runId: string; leaseId: string },
  folder: string,
  pace: Pace,
  leaving: AbortSignal,
): Promise<void> {
  const { role, harness } = run.agent;
  const { sandboxId } = await platform.say<{ sandboxId: string }>(
    'registerSandbox',
    {
      ...held,
      key: 'shell',
      role,
      harness,
      harnessVersion: process.version,
      instanceType: run.instanceType,
      timeoutAt: Date.now() + pace.timeout,
    },
    '{ sandboxId }',
  );
  const sandbox = { sandboxId, leaseId: run.leaseId };
  const session = { ...sandbox, role, sessionId: randomUUID() };
  await platform.say('reportSession', session);
  const journal = openJournal(platform, session, pace.flush);

  const artifacts = path.join(folder, 'artifacts');
  const place = path.join(folder, 'work');
  await Promise.all([mkdir(artifacts), mkdir(place), writeFile(path.join(folder, 'mission.sh'), run.prompt)]);
  await journal.write('prompt', run.prompt, 'mission');
  await journal.write('system', `${process.platform} ${release()}, node ${process.version}, in ${place}\n`);

  // Nothing of our own surroundings: the runner's token is not the script's.
  const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: place, ARTIFACTS: artifacts, RUN_ID: run.runId };
  const child = spawn('sh', [path.join(folder, 'mission.sh')], {
    cwd: place,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Should this process be killed, its end of the pipe closes, and the script ends as well.
  const watchdog = spawn('sh', ['-c', `read -r _; kill -KILL -${child.pid}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  // What the script has left running may hold its output open.
  const ended = once(child, 'close');

  const now = { progress: 0, activity: run.missionTitle ?? 'Working', changed: true };
  const reports: Promise<unknown>[] = [];
  const previews: Promise<Preview>[] = [];
  let costs = 0;
  readLines(child, (line) => {
    const word = wordOf(line);
    if (!word) journal.log(`${line}\n`);
    else if ('fragment' in word) journal.show(word.fragment);
    else if ('progress' in word)
      Object.assign(now, { ...word, activity: word.activity ?? now.activity, changed: true });
    else if ('cost' in word) {
      const cost = {
        ...held,
        sandboxId,
        role,
        sessionId: session.sessionId,
        costId: `${sandboxId}-${++costs}`,
        usd: word.cost,
      };
      reports.push(platform.say('reportCost', cost));
    } else if (previews.length === 0) {
      const opening = openPreview(platform, held, path.resolve(place, word.preview));
      opening.then(
        ({ address }) => journal.show({ kind: 'action', action: 'preview', parameter: address }),
        (error) => journal.show({ kind: 'error', body: `no preview: ${error.message}` }),
      );
      previews.push(opening);
    }
  });

  const stop = { why: '' };
  const beating = beat(platform, held, sandbox, child, now, place, pace, previews, stop);
  const code = await Promise.race([
    exited.then(([exit]) => exit),
    aborted(leaving).then(() => endGroup(child, ended, pace.grace)),
    beating.then(() => endGroup(child, ended, pace.grace)),
  ]).finally(async () => {
    await endGroup(child, ended, pace.grace);
    watchdog.kill('SIGKILL');
  });
  await beating;

  await Promise.allSettled(previews.map(async (opening) => (await opening).close()));
  await Promise.all(reports);
  await journal.close();
  if (leaving.aborted) {
    await platform.say('handBackRun', { ...held, reason: 'the runner is shutting down' });
    return;
  }
  await handIn(platform, held, session, artifacts);
  const [status, outcome] =
    code === 0 && !stop.why ? ['completed', 'completed'] : ['failed', stop.why || `exit code ${code}`];
  await platform.say('reportSession', { ...session, outcome });
  await platform.say('finishSandbox', { ...sandbox, status, terminationReason: outcome });
  await platform.say('finishRun', { ...held, status, ...(status === 'failed' && { error: outcome }) });
}

/** Resolves also when that was before anybody asked. */
const aborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

function readLines(child: ChildProcess, take: (line: string) => void): void {
  for (const stream of [child.stdout!, child.stderr!]) {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    stream.on('data', (bytes: Buffer) => {
      const lines = (rest + decoder.write(bytes)).split('\n');
      rest = lines.pop()!;
      lines.forEach(take);
    });
    stream.on('end', () => {
      if (rest) take(rest);
    });
  }
}

/** Says that we live until the script ends, or until the platform wants it stopped: then `stop.why` says why. */
async function beat(
  platform: Platform,
  held: { runId: string; leaseId: string },
  sandbox: { sandboxId: string; leaseId: string },
  child: ChildProcess,
  now: { progress: number; activity: string; changed: boolean },
  place: string,
  pace: Pace,
  previews: Promise<Preview>[],
  stop: { why: string },
): Promise<void> {
  const measure = meter(child.pid!, place);
  const over = Date.now() + pace.timeout;
  const alive = () => child.exitCode === null && child.signalCode === null;
  let samples: Sample[] = [];
  let last = 0;

  async function tell(): Promise<void> {
    const { progress, activity } = now;
    now.changed = false;
    last = Date.now();
    const known = await Promise.all(previews.map((opening) => opening.catch(() => null)));
    const answer = await platform.say<{ runs: { desired: string }[]; sandboxes: { desired: string }[] }>(
      'heartbeat',
      {
        runs: [{ ...held, progress, activity: activity.slice(0, 500) }],
        sandboxes: [{ ...sandbox, metrics: samples }],
        environments: known.flatMap((preview) => preview?.environmentId ?? []),
      },
      '{ runs { desired } sandboxes { desired } environments { environmentId desired } }',
    );
    samples = [];
    if ([...answer.runs, ...answer.sandboxes].some(({ desired }) => desired === 'stop')) stop.why = 'stopped';
  }

  while (alive()) {
    if (Date.now() >= over) stop.why = 'timeout';
    if (stop.why) return;
    const sample = await measure().catch(() => null);
    if (sample && alive()) samples.push(sample);
    // How far it is should be seen soon; that we live is said now and then.
    if (now.changed || Date.now() - last >= pace.heartbeat) await tell();
    await wait(pace.sample);
  }
  if (!stop.why) await tell();
}

/** Ends the script and all it has started, first politely. Gives null, which no exit code is. */
async function endGroup(child: ChildProcess, ended: Promise<unknown>, grace: number): Promise<null> {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, name);
    } catch {
      // There is nobody left.
    }
  };
  signal('SIGTERM');
  await Promise.race([ended, wait(grace)]);
  signal('SIGKILL');
  await ended;
  return null;
}

/** What a file is, by its ending. */
const kinds: Record<string, [kind: string, contentType: string]> = {
  '.png': ['screenshot', 'image/png'],
  '.jpg': ['screenshot', 'image/jpeg'],
  '.webp': ['screenshot', 'image/webp'],
  '.mp4': ['video', 'video/mp4'],
  '.webm': ['video', 'video/webm'],
  '.zip': ['trace', 'application/zip'],
  '.log': ['log', 'text/plain'],
  '.txt': ['log', 'text/plain'],
  '.md': ['report', 'text/markdown'],
  '.html': ['report', 'text/html'],
  '.json': ['file', 'application/json'],
};

/** Every file that the script has left in `$ARTIFACTS`. */
async function handIn(
  platform: Platform,
  held: { runId: string; leaseId: string },
  { sandboxId, role, sessionId }: { sandboxId: string; role: string; sessionId: string },
  folder: string,
): Promise<void> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { name } of files.sort((a, b) => a.name.localeCompare(b.name))) {
    const file = path.join(folder, name);
    const upload = await platform.say<{ contentKey: string; uploadUrl: string }>(
      'createArtifactUpload',
      held,
      '{ contentKey uploadUrl }',
    );
    await platform.upload(upload.uploadUrl, file, (await stat(file)).size);
    const [kind, contentType] = kinds[path.extname(name).toLowerCase()] ?? ['file', 'application/octet-stream'];
    const described = {
      contentKey: upload.contentKey,
      role,
      kind,
      contentType,
      sandboxId,
      sessionId,
      caption: name.slice(0, 500),
    };
    await platform.say('registerArtifact', { ...held, ...described }, '{ artifactId }');
  }
}
