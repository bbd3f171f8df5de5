// `npm run dashboard:types`: writes the dashboard's operations with their types, as schema.graphql has them.
import { readFileSync, writeFileSync } from 'node:fs';
import { dashboardDocuments, documentsFile } from './dashboard-documents.ts';

const sdl = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
writeFileSync(documentsFile, await dashboardDocuments(sdl));
