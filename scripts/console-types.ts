// `npm run console:types`: writes the operations of the console and of the runner, with types from schema.graphql.
import { readFileSync, writeFileSync } from 'node:fs';
import { programs, typedOperations } from './typed-operations.ts';

const root = new URL('../', import.meta.url);
const sdl = readFileSync(new URL('schema.graphql', root), 'utf8');
for (const program of programs) writeFileSync(new URL(program.file, root), await typedOperations(program, sdl));
