// Bundles the service into `dist` with the libraries that it loads: thousands of files take twice as long to start from. Vitest
// resolves no `#layer` imports for this file.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build, type RolldownOutput } from 'rolldown';
import { isFresh, output, root } from './output.ts';

/** Loaded from node_modules, where they have files or threads of their own. */
const apart = ['pino', 'pino-pretty'];
/** Drivers that knex and pg would load, and that are not installed. */
const absent = /^(pg-native|pg-query-stream|better-sqlite3|mariadb|mysql2?|oracledb|sqlite3|tedious)(\/|$)/;
/** What libraries load for features that the service does not use: a serializer, a parser of cron, other databases. */
const unused =
  /node_modules.(fast-json-stringify|cron-parser|knex.lib.dialects.(?!postgres\W|index)\w|rate-limiter-flexible.lib.RateLimiter(?!Cluster|Memory|Res|\w*Abstract))/;
const emptied = { name: 'emptied', load: { filter: { id: unused }, handler: () => 'module.exports = {};' } };

/** Bundles programs (their names, and their sources below the root) into a folder, where they share files with their content in the name. */
export const bundle = (input: Record<string, string>, dir = output): Promise<RolldownOutput> =>
  build({
    cwd: root,
    input,
    // The main file of graphql is CommonJS, which every library loads: two copies would not know each other's types.
    platform: 'node',
    tsconfig: 'tsconfig.json',
    external: [...apart, absent],
    plugins: [emptied],
    output: {
      dir,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      // Else it would run after the files that `main` shares.
      codeSplitting: { groups: [{ name: 'first', test: /foundation.v8-flags/ }] },
      // Names stay, for stack traces.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      keepNames: true,
      // One character beyond Latin-1 doubles what a file takes in memory.
      charset: 'ascii',
    },
  });

/** Returns false when there was nothing to do. */
export async function buildService({ always = false } = {}): Promise<boolean> {
  if (!always && isFresh(path.join(output, 'main.js'), path.join(root, 'src'))) return false;
  const results = await Promise.all([
    bundle({ main: 'src/main.ts', admin: 'src/admin.ts' }),
    // By itself in one file: it can be copied to another machine.
    bundle({ 'runner/runner': 'src/runner/runner.ts' }),
  ]);
  const made = results.flatMap((result) => result.output.map((file) => file.fileName));
  for (const name of readdirSync(output)) {
    if (name.endsWith('.js') && !made.includes(name)) rmSync(path.join(output, name));
  }
  return true;
}
