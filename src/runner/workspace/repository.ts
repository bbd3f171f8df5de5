// The repository of a run, checked out for its agents; their commits are pushed, and reported with their diff as an artifact. A project
// without a repository that git can reach has an empty folder. The checkout or folder is restored from a checkpoint if there is one.
import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Account, CheckpointOrder, RunLease, Session } from '../contract.ts';
import { openRepository, reportBranch, signAttestations } from '../generated/operations.ts';
import { chownRecursive } from '../isolation/accounts.ts';
import type { Place } from '../isolation/place.ts';
import { isOnLoopback } from '../network/addresses.ts';
import { type Platform, RequestRejected } from '../protocol/platform.ts';
import { uploadChange } from './artifacts.ts';
import { type Bundle, forget, unpack, writeFiles, writeSessions } from './checkpoint.ts';
import { git } from './git.ts';
import { readInstructions } from './instructions.ts';
import { type Origin, openWorkspace, type StagedCommits, type Workspace } from './workspace.ts';

export interface Checkout {
  /** Description of the repository, for the log. */
  description: string;
  /** Harness sessions whose files are in the working folder. */
  sessions: string[];
  /** The repository's instructions for agents; null if it has none. */
  instructions: string | null;
  /** A commit that the repository of the project has; null without one. */
  base: string | null;
  /** The repository and the commit that the checkout began from; null without a repository. */
  start: { url: string; branch: string; defaultBranch: string; commitSha: string } | null;
  /** Whether the checkout contained no changes by an agent of this run at the time when the checkout was created. */
  isUntouched: boolean;
  /** Pushes the commits since the last call, if any, and reports them as work of the session. */
  deliver(session: Session): Promise<void>;
  /** Adds the platform's signed attestations to the run's commits, as git notes. */
  attest(): Promise<void>;
}

export interface CheckoutSettings {
  lease: RunLease;
  place: Place;
  account: Account | undefined;
  /** A folder of the runner that keeps mirrors between missions. */
  mirrors: string;
  /** The name of the agent that commits. */
  author: string;
  checkpoint: CheckpointOrder | null;
  /** The commit from which the replayed mission began; null means the branch. */
  startSha: string | null;
  /** Whether attestations are pushed as notes of their commits. */
  hasNotes: boolean;
}

/** The repository of the run, or a repository with skills of its agent. */
export async function openOrigin(platform: Platform, input: RunLease & { skillRepo?: string }): Promise<Origin> {
  const answer = await platform.mutate(openRepository, { ...input, stagesPushes: true });
  const relayed = platform.via.isRelayed ? platform.via.host(answer.url) : undefined;
  return { ...answer, allowLoopback: isOnLoopback(platform.url), relayed };
}

export async function checkOut(platform: Platform, settings: CheckoutSettings): Promise<Checkout> {
  const { lease, place, account, mirrors, startSha: wanted, author: name } = settings;
  const origin = await openOrigin(platform, lease).catch((error) => {
    if (error instanceof RequestRejected && error.code === 'conflict') return null;
    throw error;
  });
  const bundle = await fetchBundle(platform, settings);
  if (!origin) return openFolder(settings, bundle);
  const author = { name, email: `agent@${new URL(platform.url).hostname}` };
  const { branch, defaultBranch: baseBranch } = origin;
  const { mask } = platform;
  const workspace = await openWorkspace({
    ...{ mirrors, checkout: place.work, origin, account, author, mask, wanted },
    reopen: () => openOrigin(platform, lease),
    checkpoint: bundle,
  });
  const { mirror, base, startSha, restored } = workspace;
  const sessions = bundle && restored === true ? await writeSessions(mirror, bundle, place).catch(() => []) : [];
  if (bundle) {
    await chownRecursive(place.home, account);
    await forget(mirror, bundle);
  }
  const attest = settings.hasNotes && !origin.pushWaits ? openNotes(platform, lease, workspace) : async () => {};
  return {
    description: `The agent works on the branch ${branch} of ${origin.url}.${origin.pushWaits ? waitNote : ''}${checkpointNote(settings, bundle, restored)}`,
    sessions,
    base,
    start: { url: origin.url, branch, defaultBranch: baseBranch, commitSha: startSha },
    isUntouched: startSha === base && restored !== true,
    instructions: await readInstructions(mirror, startSha),
    deliver: async (session) => {
      if (await deliver(platform, settings, workspace, baseBranch, session)) await attest();
    },
    attest,
  };
}

const waitNote = '\nThe commits of the mission are not pushed: they wait for approval.';

/** The bundle of the checkpoint; null without one, or when its content is missing. */
async function fetchBundle(platform: Platform, { mirrors, checkpoint }: CheckoutSettings): Promise<Bundle | null> {
  if (!checkpoint) return null;
  const file = path.join(mirrors, `${randomUUID()}.bundle`);
  return (await platform.download(checkpoint.url, file)) ? { file, commitSha: checkpoint.commitSha } : null;
}

/** The folder of a project without a repository, whose files are restored from the checkpoint, but not pushed. */
async function openFolder(settings: CheckoutSettings, bundle: Bundle | null): Promise<Checkout> {
  const { place, account, mirrors } = settings;
  let [sessions, restored]: [string[], true | string | null] = [[], null];
  if (bundle) {
    const repository = await mkdtemp(path.join(mirrors, 'restore-'));
    try {
      await git(repository, ['init', '--quiet', '--bare']);
      await unpack(repository, bundle);
      await writeFiles(repository, bundle, place.work);
      sessions = await writeSessions(repository, bundle, place).catch(() => []);
      restored = true;
    } catch (error) {
      restored = (error as Error).message;
    } finally {
      await forget(null, bundle);
      await rm(repository, { recursive: true, force: true });
    }
    for (const folder of [place.work, place.home]) await chownRecursive(folder, account);
  }
  return {
    description: `The project has no repository that git can reach.${checkpointNote(settings, bundle, restored)}`,
    sessions,
    base: null,
    start: null,
    isUntouched: restored !== true,
    instructions: null,
    deliver: async () => {},
    attest: async () => {},
  };
}

function checkpointNote(
  { checkpoint }: CheckoutSettings,
  bundle: Bundle | null,
  restored: true | string | null,
): string {
  if (!checkpoint) return '';
  if (restored === true) return `\nThe mission begins from the checkpoint ${checkpoint.commitSha}.`;
  const why = bundle ? (restored ?? 'it cannot be read') : 'it is gone';
  return `\nThe checkpoint ${checkpoint.commitSha} is not restored: ${why}.`;
}

async function deliver(
  platform: Platform,
  { lease, place }: CheckoutSettings,
  workspace: Workspace,
  baseBranch: string,
  session: Session,
): Promise<boolean> {
  const delivery = await workspace.deliver();
  if (!delivery) return false;
  const { headSha, baseSha, size, newCommits, staged } = delivery;
  const bundle = staged && (await uploadStaged(platform, lease, staged));
  const artifacts = await uploadChange(platform, lease, session, place.artifacts, delivery);
  const change = { headSha, baseBranch, baseSha, newCommits };
  await platform.mutate(reportBranch, { ...lease, ...change, ...size, ...artifacts, ...bundle });
  workspace.markReported(delivery);
  return true;
}

/**
 * Returns a function that adds the signed attestations of commits as git notes. A failure to add them is only logged, because the platform
 * also keeps the attestations itself.
 */
function openNotes(platform: Platform, lease: RunLease, workspace: Workspace): () => Promise<void> {
  const written = new Map<string, string>();
  return async () => {
    try {
      const { data } = await platform.mutate(signAttestations, lease);
      const notes = data.map(({ sha, envelope }) => ({ sha, text: JSON.stringify(envelope) }));
      const changed = notes.filter(({ sha, text }) => written.get(sha) !== text);
      if (changed.length === 0) return;
      await workspace.note(changed);
      for (const { sha, text } of changed) written.set(sha, text);
    } catch (error) {
      if (error instanceof RequestRejected && error.code === 'lease_lost') throw error;
      console.error(`${lease.runId}: the attestations are not pushed: ${(error as Error).message}`);
    }
  };
}

async function uploadStaged(platform: Platform, lease: RunLease, { file, expectedSha }: StagedCommits) {
  const content = await open(file);
  const bundleContentKey = await platform.upload(lease, 'staged commits', content).finally(async () => {
    await content.close();
    await rm(file, { force: true });
  });
  return { bundleContentKey, expectedSha };
}
