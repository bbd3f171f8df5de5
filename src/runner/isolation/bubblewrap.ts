// Options of bubblewrap that drop privileges, common to the cells of agents and of scripts.
import { spawnSync } from 'node:child_process';

const walls = ['--unshare-all', '--unshare-user', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'];

let strongest: string[] | undefined;

/**
 * Returns the options. They forbid programs in the cell to create user namespaces, if bubblewrap and the kernel support that
 * (bubblewrap 0.8.0, not setuid). This support is tested under an account without privileges, like that of missions.
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
