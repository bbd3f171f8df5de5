// `npm run openapi`: prints the OpenAPI document.
import { readOpenApi } from './openapi-document.ts';

process.stdout.write(`${JSON.stringify(await readOpenApi(), null, 2)}\n`);
