// Keeps workspaces for inspection after their mission, if the operator has enabled it.
import { cp, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';

export interface Retention {
  /** Folder of kept workspaces, which only the runner uses. */
  folder: string;
  keepMs: number;
}

/** Moves the workspace into the folder of kept workspaces, under the id of its run. Older workspaces are removed. */
export async function retain({ folder, keepMs }: Retention, work: string, runId: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const to = path.join(folder, runId);
  await rm(to, { recursive: true, force: true });
  await rename(work, to).catch(async (error) => {
    if (error.code !== 'EXDEV') throw error;
    // Links are copied as links, because their targets might not belong to the agent.
    await cp(work, to, { recursive: true, verbatimSymlinks: true });
  });
  const now = new Date();
  await utimes(to, now, now);
  await sweep({ folder, keepMs });
}

/** Removes workspaces whose retention period has ended. */
export async function sweep({ folder, keepMs }: Retention): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const kept = path.join(folder, name);
    if (!/^run_\w+$/.test(name) || (await stat(kept)).mtimeMs > Date.now() - keepMs) continue;
    await rm(kept, { recursive: true, force: true });
  }
}
