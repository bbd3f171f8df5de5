// What cells of agents and the confinement of scripts have in common: the options of bubblewrap that take privileges away.
import { spawnSync } from 'node:child_process';

const walls = ['--unshare-all', '--unshare-user', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'];

let strongest: string[] | undefined;

/** Without user namespaces inside where bubblewrap and the kernel can do that (0.8.0, not setuid). It is tried as missions are run. */
export function strongestWalls(): string[] {
  if (strongest) return strongest;
  const stronger = [...walls, '--disable-userns'];
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const tried = spawnSync('bwrap', [...stronger, '--ro-bind', '/', '/', 'true'], {
    ...account,
    cwd: '/',
    stdio: 'ignore',
  });
  strongest = tried.status === 0 ? stronger : walls;
  return strongest;
}
