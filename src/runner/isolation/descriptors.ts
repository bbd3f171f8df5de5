// Open files that the runner inherits from its parent. Node.js passes them on to children: a script could read them despite its
// isolation.
import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC of Linux: Node.js opens its own descriptors with this flag. */
const closeOnExec = 0o2000000;

/** Closes all descriptors except the standard ones; called before the runner opens any. */
export function closeInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd <= 2) continue;
    try {
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
      if (flags && (Number.parseInt(flags, 8) & closeOnExec) === 0) closeSync(fd);
    } catch {
      // The listed descriptors include the one by which the folder was read. That descriptor is already closed; its error is ignored.
    }
  }
}
