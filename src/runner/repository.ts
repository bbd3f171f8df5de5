// The repository of a run, checked out for its agents; what they commit is pushed, and reported with its difference as an artifact.
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from './confinement.ts';
import type { Held } from './mission.ts';
import type { Place } from './place.ts';
import { type Platform, RequestRejected } from './platform.ts';
import { type Origin, openWorkspace } from './workspace.ts';

export interface Checkout {
  /** What a log says of it. */
  description: string;
  /** Pushes what was committed since the last time, if anything was. */
  deliver(): Promise<void>;
}

export interface CheckoutSettings {
  held: Held;
  place: Place;
  account: Account | undefined;
  /** A folder of the runner's, where mirrors stay from mission to mission. */
  mirrors: string;
  /** The name of the agent that commits. */
  author: string;
}

const fields = '{ url username password defaultBranch branch }';

/** Null: the project has no repository that git reaches. */
export async function checkOut(platform: Platform, settings: CheckoutSettings): Promise<Checkout | null> {
  const { held, place, account, mirrors, author: name } = settings;
  const origin = await platform.say<Origin>('openRepository', held, fields).catch((error) => {
    if (error instanceof RequestRejected && error.code === 'conflict') return null;
    throw error;
  });
  if (!origin) return null;
  const author = { name, email: `agent@${new URL(platform.url).hostname}` };
  const { branch, defaultBranch: baseBranch } = origin;
  const workspace = await openWorkspace({ mirrors, checkout: place.work, origin, account, author });
  return {
    description: `on the branch ${branch} of ${origin.url}`,
    async deliver() {
      const delivery = await workspace.deliver();
      if (!delivery) return;
      const { headSha, diff } = delivery;
      const file = path.join(place.artifacts, 'change.diff');
      // The folder is the agent's: what it has put in the way is not followed.
      await rm(file, { force: true, recursive: true });
      await writeFile(file, diff, { flag: 'wx' });
      await platform.say('reportBranch', { ...held, headSha, baseBranch }, '{ prNumber }');
    },
  };
}
