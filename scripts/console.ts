// `npm run console`: builds the console where its sources are newer than what was built, which `npm start` does first.
// Without development dependencies what was built is taken as it is.
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
