// `npm run schema`: writes schema.graphql, the whole graph from the code. It is read in review and never edited.
import { writeFileSync } from 'node:fs';
import { printGraph } from '#graph/print.ts';
import { schema } from '#schema.ts';

writeFileSync(new URL('../schema.graphql', import.meta.url), printGraph(schema));
