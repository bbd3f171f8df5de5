// The name by which a program of the package was called, for its help.
import path from 'node:path';

/**
 * The command with which the program was called: the name of an installed program, the path of a bundle, or the npm command for the
 * sources.
 */
export function calledAs(installed: string, fromSources: string): string {
  const called = process.argv[1] ?? '';
  if (path.basename(called) === installed) return installed;
  if (!/[\\/](main|admin)\.js$/.test(called)) return fromSources;
  const within = path.relative(process.cwd(), called);
  return `node ${within.startsWith('..') ? called : within}`;
}
