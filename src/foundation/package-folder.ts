// The folder of package.json. Source files and bundled files find it in the same way, although they are at different depths below it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { resolve } = createRequire(import.meta.url);

export const packageFolder: string = path.dirname(resolve('#package.json'));

/** Version of this release. */
export const releaseVersion: string = JSON.parse(
  readFileSync(path.join(packageFolder, 'package.json'), 'utf8'),
).version;
