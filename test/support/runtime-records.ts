// Functions with which a test inserts records directly into the tables. In production, a runtime reports these records to the API. Each
// function needs only a few values; a test may set any other field.
import { storeContent } from '#domain/work/artifacts/content.ts';
import { Artifact, StoredContent } from '#domain/work/artifacts/model.ts';
import { Environment } from '#domain/work/environments/model.ts';
import { MissionCost } from '#domain/work/mission-costs/model.ts';
import { RunMessage } from '#domain/work/runs/message-model.ts';
import { RunStep } from '#domain/work/runs/step-model.ts';
import {
  type LogPart,
  Sandbox,
  SandboxFragment,
  SandboxLogPart,
  SandboxMetric,
  SandboxSession,
} from '#domain/work/sandboxes/model.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { lifetimesMs } from '#limits.ts';
import { present } from './world.ts';

type Some<R> = { [K in keyof R]?: R[K] };

/** The organization and project of a record. */
export interface Place {
  orgId: Id<'organization'>;
  projectId: Id<'project'>;
}

export const spend = async (place: Place, usd: number, more: Some<MissionCost> = {}): Promise<MissionCost> =>
  MissionCost.query().insertAndFetch({ id: newId('missionCost'), ...place, usd, at: present(), ...more });

/** A running sandbox, just registered. */
export const startSandbox = async ({ orgId, projectId }: Place, more: Some<Sandbox> = {}): Promise<Sandbox> =>
  Sandbox.query().insertAndFetch({
    id: newId('sandbox'),
    orgId,
    projectId,
    role: 'builder',
    harness: 'claude-code',
    status: 'running',
    instanceType: 'standard-1',
    createdAt: present(),
    lastHeartbeatAt: present(),
    ...more,
  });

/** Writes the steps of a run, in order. A step without a `status` is completed. */
export async function writeSteps(place: Place, runId: string, steps: Some<RunStep>[]): Promise<void> {
  for (const [seq, step] of steps.entries()) {
    const { role = 'builder', harness = 'claude-code', model = 'claude-sonnet-4-5' } = step;
    await RunStep.query().insert({
      id: newId('runStep'),
      runId: runId as RunStep['runId'],
      ...place,
      seq,
      role,
      harness,
      model,
      agent: { name: `Our ${role}`, role, harness, model } as RunStep['agent'],
      round: 1,
      status: 'completed',
      prompt: 'Do your part.',
      createdAt: present() + seq,
      startedAt: present(),
      finishedAt: present(),
      ...step,
    });
  }
}

/** Inserts messages of a run, numbered in the given order. */
export async function writeMessages(place: Place, runId: string, messages: Some<RunMessage>[]): Promise<void> {
  for (const [seq, message] of messages.entries()) {
    await RunMessage.query().insert({
      id: newId('runMessage'),
      runId: runId as RunMessage['runId'],
      ...place,
      seq,
      kind: 'message',
      text: '',
      author: 'Alice',
      createdAt: present() + seq,
      ...message,
    });
  }
}

let begun = 0;
export const startSession = async ({ id }: Sandbox, more: Some<SandboxSession> = {}): Promise<SandboxSession> =>
  SandboxSession.query().insertAndFetch({
    sandboxId: id,
    role: 'builder',
    sessionId: `session-${++begun}`,
    startedAt: present(),
    ...more,
  });

/** Writes the pieces of one log, in order. If the log is a prompt, each piece becomes a separate span of the prompt. */
export async function writeLog({ sandboxId, role, sessionId }: SandboxSession, part: LogPart, pieces: string[]) {
  for (const [seq, content] of pieces.entries()) {
    const spanId = part === 'prompt' ? `span-${seq}` : null;
    await SandboxLogPart.query().insert({ sandboxId, role, sessionId, part, seq, content, spanId });
  }
}

export async function showFragments({ id }: Sandbox, fragments: Some<SandboxFragment>[]): Promise<void> {
  await SandboxFragment.query().insert(
    fragments.map((fragment, seq) => ({ sandboxId: id, seq, kind: 'thought' as const, at: present(), ...fragment })),
  );
}

/**
 * Writes samples of a sandbox, the first at the time `from` and the others at intervals of `every` milliseconds. `cpu` contains the CPU
 * percentage of each sample.
 */
export async function measure({ id }: Pick<Sandbox, 'id'>, from: number, every: number, cpu: number[]): Promise<void> {
  const samples = cpu.map((cpuPct, i) => ({
    sandboxId: id,
    at: from + i * every,
    cpuPct,
    memUsedMb: 1_024 + i,
    memTotalMb: 4_096,
    diskUsedPct: 12.5,
  }));
  for (let i = 0; i < samples.length; i += 1_000) await SandboxMetric.query().insert(samples.slice(i, i + 1_000));
}

/** An environment that is ready to be opened. */
export const openEnvironment = async (place: Place, more: Some<Environment> = {}): Promise<Environment> =>
  Environment.query().insertAndFetch({
    id: newId('environment'),
    orgId: place.orgId,
    projectId: place.projectId,
    status: 'active',
    createdAt: present(),
    ...more,
  });

/** An artifact with its content, text by default. Requires an open storage. */
export async function leaveArtifact(
  place: Place,
  content: string | Buffer,
  more: Some<Artifact> = {},
): Promise<Artifact> {
  const { key, sizeBytes } = await storeContent([Buffer.from(content)] as never);
  return registerArtifact(place, { contentKey: key, sizeBytes, ...more });
}

/** Uploaded content of an organization, which no test reads. */
export const storedContent = async (orgId: Id<'organization'>): Promise<StoredContent> =>
  StoredContent.query().insertAndFetch({
    key: newId('content'),
    orgId,
    createdAt: present(),
    sizeBytes: 0,
  } as Partial<StoredContent>);

/** An artifact whose content no test reads. */
export async function noteArtifact(place: Place, more: Some<Artifact> = {}): Promise<Artifact> {
  const { key } = await storedContent(place.orgId);
  return registerArtifact(place, { contentKey: key, sizeBytes: 0, ...more });
}

const registerArtifact = async ({ orgId, projectId }: Place, more: Some<Artifact>): Promise<Artifact> =>
  Artifact.query().insertAndFetch({
    id: newId('artifact'),
    orgId,
    projectId,
    role: 'qa',
    kind: 'log',
    contentType: 'text/plain',
    createdAt: present(),
    expiresAt: present() + lifetimesMs.artifact,
    ...more,
  });
