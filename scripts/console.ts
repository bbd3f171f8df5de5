// `npm run console`: builds the console if its sources are newer than the last build; `npm start` does this first.
// Without development dependencies, the last build is used unchanged.
import { createRequire } from 'node:module';

function isInstalled(name: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(`${name}/package.json`) !== '';
  } catch {
    return false;
  }
}

if (isInstalled('vite')) {
  const { buildConsole } = await import('./console-build.ts');
  await buildConsole();
}
