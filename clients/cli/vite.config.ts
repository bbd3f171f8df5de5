// Bundles the command line into one file, so that npm installs no other package with it. `licenses.json` lists the packages in the bundle.
import { defineConfig } from 'vite';

export default defineConfig({
  logLevel: 'warn',
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    license: { fileName: 'licenses.json' },
    rolldownOptions: { output: { entryFileNames: 'aep.js', banner: '#!/usr/bin/env node' } },
  },
  ssr: { noExternal: true },
});
