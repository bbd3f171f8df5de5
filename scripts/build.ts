// `npm run build`, after the type check: builds the service and the console into `dist`, with a list of the packages in their bundles, which
// a release reads.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RolldownOutput } from 'rolldown';
import { buildConsole } from './console-build.ts';
import { output } from './output.ts';
import { buildService } from './service-build.ts';

/** Names and versions of the packages whose modules are in bundles. */
function packagesIn(files: RolldownOutput['output'][number][]): { name: string; version: string }[] {
  const modules = files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const folders = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return { name, version };
  });
}

const built = await Promise.all([buildService({ always: true }), buildConsole({ always: true })]);
writeFileSync(path.join(output, 'packages.json'), `${JSON.stringify(packagesIn(built.flat()), null, 2)}\n`);
