// The name by which a program of the package was called, for its help.
import path from 'node:path';

/** How the program was called: an installed one by its name, a bundle by its path, the sources by the npm command. */
export function calledAs(installed: string, fromSources: string): string {
  const called = process.argv[1] ?? '';
  if (path.basename(called) === installed) return installed;
  if (!/[\\/](main|admin)\.js$/.test(called)) return fromSources;
  const within = path.relative(process.cwd(), called);
  return `node ${within.startsWith('..') ? called : within}`;
}
