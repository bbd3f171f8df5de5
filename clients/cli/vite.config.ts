// Bundles the command line into one file, so that the package has no dependencies.
import { defineConfig } from 'vite';

export default defineConfig({
  logLevel: 'warn',
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    rolldownOptions: { output: { entryFileNames: 'aep.js', banner: '#!/usr/bin/env node' } },
  },
  ssr: { noExternal: true },
});
