// Creates the organization that the benchmark of the console opens: a mission with a long log and a large change, and the missions on
// which the benchmark performs the tasks of a team lead.
import { openSession } from '#domain/identity/sessions/operations.ts';
import { storeContent } from '#domain/work/artifacts/content.ts';
import { Artifact } from '#domain/work/artifacts/model.ts';
import { AttemptGroup } from '#domain/work/attempts/model.ts';
import { Run } from '#domain/work/runs/model.ts';
import { RunStep } from '#domain/work/runs/step-model.ts';
import { Sandbox, SandboxFragment, SandboxLogPart, SandboxSession } from '#domain/work/sandboxes/model.ts';
import { hours, minutes, now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql } from '#foundation/postgres/database.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { idOf } from '../database.ts';

const place = { orgId: idOf('org', 0) as Id<'organization'>, projectId: 'prj_1' as Id<'project'> };
const [owner, other] = [idOf('usr', 0) as Id<'person'>, idOf('usr', 1) as Id<'person'>];
const headSha = 'a'.repeat(40);

/** Number of log lines and of changed files of the large mission. */
export const large = { lines: 100_000, files: 500 };

export interface Seeded {
  /** The owner's session cookie. */
  session: string;
  /** Ids of missions. */
  big: string;
  changed: string;
  attempts: string;
}

export async function seedOrganization(contents: string): Promise<Seeded> {
  openStorage(folderStorage(contents));
  await sql(`insert into people (id, email, name, created_at) values ('${other}', 'bob@example.com', 'Bob', 0)`);
  await sql(
    `insert into memberships (org_id, user_id, role, created_at) values ('${place.orgId}', '${other}', 'member', 0)`,
  );
  const { id, secret } = await openSession(owner, { userAgent: 'bench', address: '127.0.0.1' });
  await sql('update sessions set org_id = $1 where id = $2', [place.orgId, id]);
  await plan();
  await failure();
  const changed = await change('Use the time zone of the buyer', 3, {
    prNumber: 7,
    prState: 'open',
    prUrl: 'https://example.com/7',
  });
  const attempts = await attemptsAtOnce();
  const big = await change('Rewrite the catalogue', large.files, {});
  await work(big, large.lines, null);
  return { session: secret, big, changed, attempts };
}

async function run(missionTitle: string, more: object): Promise<Id<'run'>> {
  const id = newId('run');
  const at = now() - minutes(5);
  await Run.query().insert({
    ...{ id, ...place, kind: 'manual', missionTitle, prompt: missionTitle, issueId: id, billingActorUserId: owner },
    ...{ scheduledFor: at, createdAt: at, updatedAt: at, startedAt: at, missionCostUsd: 0.42, ...more },
  } as never);
  return id;
}

const ended = (status: 'completed' | 'failed') => ({ status, finishedAt: now() - minutes(1), missionProgress: 100 });

async function step(runId: Id<'run'>, more: object): Promise<void> {
  const [role, harness, model] = ['builder', 'claude-code', 'claude-sonnet-4-5'] as const;
  await RunStep.query().insert({
    ...{
      id: newId('runStep'),
      runId,
      ...place,
      seq: 0,
      role,
      harness,
      model,
      round: 1,
      status: 'completed',
      prompt: '',
    },
    ...{
      agent: { name: 'Builder', role, harness, model },
      createdAt: now(),
      startedAt: now(),
      finishedAt: now(),
      ...more,
    },
  } as never);
}

/** Creates a sandbox of the mission. @param lines Number of lines of its log */
async function work(runId: Id<'run'>, lines: number, lastLine: string | null): Promise<void> {
  const sandboxId = newId('sandbox');
  const at = now() - minutes(4);
  const [role, harness] = ['builder', 'claude-code'] as const;
  await Sandbox.query().insert({
    ...{ id: sandboxId, ...place, runId, role, harness, status: lastLine ? 'failed' : 'completed' },
    ...{ instanceType: 'standard-1', createdAt: at, lastHeartbeatAt: at, destroyedAt: at + minutes(3) },
  } as never);
  const session = { sandboxId, role, sessionId: 'bench' };
  await SandboxSession.query().insert({ ...session, startedAt: at } as never);
  const perPart = 1_000;
  for (let seq = 0; seq * perPart < lines; seq++) {
    const text = Array.from(
      { length: Math.min(perPart, lines) },
      (_, i) => `\u001b[32mok\u001b[0m ${seq * perPart + i} the request took ${i % 97} ms\n`,
    );
    if (lastLine) text.push(`${lastLine}\n`);
    await SandboxLogPart.query().insert({
      ...session,
      part: 'session',
      seq,
      content: text.join(''),
      spanId: null,
    } as never);
  }
  await SandboxFragment.query().insert(
    Array.from({ length: 200 }, (_, seq) => ({
      ...{
        sandboxId,
        seq,
        at: at + seq,
        kind: seq % 2 ? 'action' : 'thought',
        body: seq % 2 ? null : `Part ${seq} of the catalogue comes next.`,
      },
      ...(seq % 2 && { action: 'Bash', parameter: 'npm test', result: 'ok\n'.repeat(20), exitCode: 0 }),
    })) as never,
  );
  await step(runId, { sandboxId, ...(lastLine && { status: 'failed', error: 'exit code 1' }) });
}

async function plan(): Promise<void> {
  const id = await run('Show prices with tax', { status: 'dispatching', awaitsApproval: true, startedAt: null });
  await step(id, { role: 'planner', round: 0, output: JSON.stringify({ steps: ['Measure', 'Repair'] }) });
}

async function failure(): Promise<void> {
  const id = await run('Mend the currency test', { ...ended('failed'), lastError: 'exit code 1' });
  await work(id, 500, '\u001b[31mnot ok 501: expected 2.50, was 2.49\u001b[0m');
}

async function change(title: string, files: number, more: object): Promise<Id<'run'>> {
  const diff = Array.from(
    { length: files },
    (_, i) => `diff --git a/src/part-${i % 20}/file-${i}.ts b/src/part-${i % 20}/file-${i}.ts
--- a/src/part-${i % 20}/file-${i}.ts
+++ b/src/part-${i % 20}/file-${i}.ts
@@ -1,12 +1,12 @@
${Array.from({ length: 10 }, (_, n) => ` export const value${n} = ${n};\n`).join('')}-const wrong = localTime("${i}");
+const right = utcTime("${i}");
 export { first };
`,
  );
  const { key, sizeBytes } = await storeContent([Buffer.from(diff.join(''))] as never);
  const artifact = {
    id: newId('artifact'),
    ...place,
    role: 'builder',
    kind: 'log',
    caption: 'change.diff',
    contentType: 'text/plain',
  };
  const { id: changeArtifactId } = await Artifact.query().insertAndFetch({
    ...artifact,
    contentKey: key,
    sizeBytes,
    createdAt: now(),
    expiresAt: now() + hours(24),
  } as never);
  const counts = { changedFiles: files, insertions: files, deletions: files, commits: 1 };
  return run(title, {
    ...ended('completed'),
    openedRepository: true,
    changeArtifactId,
    branch: 'mission/bench',
    baseBranch: 'main',
    headSha,
    ...counts,
    prCheckAt: now() + hours(1),
    ...more,
  });
}

async function attemptsAtOnce(): Promise<string> {
  const id = newId('attemptGroup');
  await AttemptGroup.query().insert({
    id,
    ...place,
    title: 'Halve the start page',
    prompt: 'Halve it.',
    state: 'open',
    createdAt: now(),
    updatedAt: now(),
  } as never);
  for (const attemptNumber of [1, 2])
    await change('Halve the start page', 2, { attemptGroupId: id, attemptNumber, attemptState: 'open' });
  return id;
}
