// Options of bubblewrap that drop privileges, common to the cells of agents and the confinement of scripts.
import { spawnSync } from 'node:child_process';

const walls = ['--unshare-all', '--unshare-user', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'];

let strongest: string[] | undefined;

/**
 * Forbids user namespaces inside, if bubblewrap and the kernel support that (0.8.0, not setuid). Tested under the conditions of missions.
 */
export function unprivilegedOptions(): string[] {
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
