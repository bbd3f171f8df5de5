// The folder of package.json, from a source as from a bundled file: they lie at different depths below it.
import { createRequire } from 'node:module';
import path from 'node:path';

const { resolve } = createRequire(import.meta.url);

export const packageFolder: string = path.dirname(resolve('#package.json'));
