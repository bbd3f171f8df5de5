// Builds the console application, the part of the console that runs in the browser, into `dist/console`: files named by their content, and a
// manifest of the files that the page loads. Vitest resolves no `#layer` imports for this file.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Rolldown } from 'vite';
import { output as dist, isFresh, root } from './output.ts';

const source = path.join(root, 'src/console');
const output = path.join(dist, 'console');
const manifest = path.join(output, 'manifest.json');

/** Returns the built files, none if the build was up to date. Concurrent builds are safe: the manifest is written last, and in one step. */
export async function buildConsole({ always = false } = {}): Promise<Rolldown.RolldownOutput['output'][number][]> {
  if (!always && isFresh(manifest, path.dirname(source))) return [];
  // Vite is imported here only, because loading it takes longer than finding that there is nothing to do.
  const { build } = await import('vite');
  const result = (await build({
    root: source,
    configFile: false,
    envDir: false,
    publicDir: false,
    base: '/console/application/',
    logLevel: 'warn',
    // NODE_ENV is fixed here, because tests run this build with the value `test`.
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      write: false,
      target: 'es2022',
      // The oldest browsers that support `light-dark()`, which the theme uses without a fallback.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: false,
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        input: path.join(source, 'main.tsx'),
        output: {
          entryFileNames: '[name]-[hash].js',
          chunkFileNames: '[name]-[hash].js',
          assetFileNames: '[name]-[hash][extname]',
        },
      },
    },
  })) as Rolldown.RolldownOutput;
  mkdirSync(output, { recursive: true });
  const files = result.output.map((file) => ({
    name: file.fileName,
    content: file.type === 'chunk' ? file.code : file.source,
  }));
  for (const { name, content } of files) writeFileSync(path.join(output, name), content);
  const script = result.output.find((file) => file.type === 'chunk' && file.isEntry)!.fileName;
  const style = files.find(({ name }) => name.endsWith('.css'))!.name;
  const chunks = files.map(({ name }) => name).filter((name) => name.endsWith('.js') && name !== script);
  const draft = `${manifest}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ script, style, chunks }, null, 2)}\n`);
  renameSync(draft, manifest);
  const kept = JSON.stringify(JSON.parse(readFileSync(manifest, 'utf8')));
  for (const name of readdirSync(output)) {
    if (/\.(js|css)$/.test(name) && !kept.includes(name)) rmSync(path.join(output, name), { force: true });
  }
  return result.output;
}
