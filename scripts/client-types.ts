// `npm run client:types`: writes the operations of the typed client with their types.
import { writeFileSync } from 'node:fs';
import { clientApi, clientApiFile } from './client-api.ts';
import { readOpenApi } from './openapi-document.ts';

writeFileSync(clientApiFile, await clientApi(await readOpenApi()));
