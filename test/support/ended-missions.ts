// Ended missions with all records that are deleted after the retention period, and counts of the records that remain.
import { Checkpoint } from '#domain/execution/checkpoints/model.ts';
import { ChangeVersion } from '#domain/work/change-versions/model.ts';
import { newId } from '#foundation/ids.ts';
import {
  leaveArtifact,
  type Place,
  showFragments,
  spend,
  startSandbox,
  startSession,
  writeLog,
  writeSteps,
} from './runtime-records.ts';
import { present, type World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

export interface EndedMission {
  runId: `run_${string}`;
  stepId: `stp_${string}`;
  sandboxId: string;
  sessionId: string;
  artifactId: string;
  checkpointId: string;
}

/**
 * Creates a mission with a log, a fragment, a cost, an attestation and two artifacts, one of which belongs to a checkpoint. The mission ends at once
 * unless `isOpen` is true.
 */
export async function writeMission(
  world: World,
  place: Place,
  { isOpen = false, ...more }: Json = {},
): Promise<EndedMission> {
  const [runId, at, sha] = [newId('run'), present(), newId('content')];
  const described = { kind: 'manual', missionTitle: 'Grow', prompt: 'Go.', issueId: 'SHOP-1', missionCostUsd: 2 };
  const times = { scheduledFor: at, createdAt: at, updatedAt: at, startedAt: at };
  await world.knex('runs').insert({ id: runId, ...place, ...described, status: 'dispatching', ...times, ...more });
  const sandbox = await startSandbox(place, { runId });
  const session = await startSession(sandbox);
  await writeLog(session, 'session', ['tulips\n']);
  await showFragments(sandbox, [{ body: 'I plant tulips.' }]);
  await writeSteps(place, runId, [{ sandboxId: sandbox.id }]);
  const { id: stepId } = await world.knex('run_steps').where({ runId }).first();
  const artifact = await leaveArtifact(place, 'proof', { sandboxId: sandbox.id });
  // Commits of people have no sandbox.
  const saved = await leaveArtifact(place, 'bundle');
  const made = { commitSha: sha, sessionId: null, createdAt: at };
  await Checkpoint.query().insert({ stepId, runId, ...place, artifactId: saved.id, ...made });
  await ChangeVersion.query().insert({
    ...{ runId, ...place, headSha: sha, branch: 'grow', role: 'builder', artifactId: artifact.id, createdAt: at },
    ...{ commitsArtifactId: null, commits: 1, changedFiles: 1, insertions: 1, deletions: 0 },
  });
  await spend(place, 2, { runId } as Json);
  const signed = { reporterId: 'rt', position: 1, createdAt: at, envelope: '{}', keyId: 'key', signedAt: at };
  await world.knex('attestations').insert({ sha, treeSha: sha, ...place, runId, stepId, ...signed });
  if (!isOpen) await endMission(world, runId);
  const ids = { stepId, sandboxId: sandbox.id, sessionId: session.sessionId };
  return { runId, ...ids, artifactId: artifact.id, checkpointId: saved.id };
}

export async function endMission(world: World, runId: string): Promise<void> {
  await world.knex('sandboxes').where({ runId }).update({ status: 'completed', destroyedAt: present() });
  await world.knex('runs').where({ id: runId }).update({ status: 'completed', finishedAt: present() });
}

/** Counts of what a mission has left behind. */
export async function left(world: World, { runId, sandboxId, artifactId, checkpointId }: EndedMission): Promise<Json> {
  const count = async (table: string, where: object) =>
    Number((await world.knex(table).where(where).count().first())!.count);
  return {
    logs: (await count('sandbox_log_parts', { sandboxId })) + (await count('log_archives', { runId })),
    fragments: (await count('sandbox_fragments', { sandboxId })) + (await count('log_archives', { runId })),
    artifacts: await count('artifacts', { id: artifactId }),
    checkpoints: (await count('artifacts', { id: checkpointId })) * (await count('checkpoints', { runId })),
    sandboxes: await count('sandboxes', { runId }),
  };
}
export const all = { logs: 1, fragments: 1, artifacts: 1, checkpoints: 1, sandboxes: 1 };
export const withoutLogs = { ...all, logs: 0, fragments: 0 };
export const nothing = { logs: 0, fragments: 0, artifacts: 0, checkpoints: 0, sandboxes: 0 };

/** Records of a run that are never deleted. */
export const keptRecords = async (world: World, { runId }: EndedMission): Promise<Json> => ({
  run: await world.knex('runs').where({ id: runId }).first(),
  steps: await world.knex('run_steps').where({ runId }),
  costs: await world.knex('mission_costs').where({ runId }),
  attestations: await world.knex('attestations').where({ runId }),
});
