// Bundles the service with its libraries into `dist`, because thousands of files take twice as long to load. Vitest resolves no
// `#layer` imports for this file.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build, type RolldownOutput } from 'rolldown';
import { isFresh, output, root } from './output.ts';

/** Libraries that are not bundled but loaded from node_modules, because they have their own files or threads. */
const apart = ['pino', 'pino-pretty'];
/** Drivers that the code of knex and pg refers to, but that are not installed. */
const absent = /^(pg-native|pg-query-stream|better-sqlite3|mariadb|mysql2?|oracledb|sqlite3|tedious)(\/|$)/;
/** Modules that libraries load for unused features: a cron parser, other databases. */
const unused =
  /node_modules.(cron-parser|knex.lib.dialects.(?!postgres\W|index)\w|rate-limiter-flexible.lib.RateLimiter(?!Cluster|Memory|Res|\w*Abstract))/;
const emptied = { name: 'emptied', load: { filter: { id: unused }, handler: () => 'module.exports = {};' } };

/**
 * Bundles programs (by name, with sources below the root) into a folder. Code that they share is in files named by a hash of their content.
 */
export const bundle = (input: Record<string, string>, dir = output): Promise<RolldownOutput> =>
  build({
    cwd: root,
    input,
    // All libraries load the CommonJS main file of graphql: with two copies, neither would know the other's types.
    platform: 'node',
    tsconfig: 'tsconfig.json',
    external: [...apart, absent],
    plugins: [emptied],
    output: {
      dir,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      // Without this group, the bundler would place v8-flags.ts in a file that runs after the files shared by `main` and other programs.
      codeSplitting: { groups: [{ name: 'first', test: /foundation.v8-flags/ }] },
      // Identifiers are not renamed, so that stack traces show them.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      keepNames: true,
      // If a file has a single character beyond Latin-1, V8 stores its text with two bytes per character.
      charset: 'ascii',
    },
  });

/** Returns the built files, none if the build was up to date. */
export async function buildService({ always = false } = {}): Promise<RolldownOutput['output'][number][]> {
  if (!always && isFresh(path.join(output, 'main.js'), path.join(root, 'src'))) return [];
  const results = await Promise.all([
    bundle({ main: 'src/main.ts', admin: 'src/admin.ts' }),
    // The runner is one file, so that it can be copied to another machine.
    bundle({ 'runner/runner': 'src/runner/runner.ts' }),
  ]);
  const files = results.flatMap((result) => result.output);
  const made = files.map((file) => file.fileName);
  for (const name of readdirSync(output)) {
    if (name.endsWith('.js') && !made.includes(name)) rmSync(path.join(output, name));
  }
  return files;
}
