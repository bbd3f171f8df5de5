// `npm run build`, after the type check: builds the service and the console into `dist`.
import { buildConsole } from './console-build.ts';
import { buildService } from './service-build.ts';

await Promise.all([buildService({ always: true }), buildConsole({ always: true })]);
