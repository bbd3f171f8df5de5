// `npm run build`, after the types: builds the service and the dashboard into `dist`.
import { buildDashboard } from './dashboard-build.ts';
import { buildService } from './service-build.ts';

await Promise.all([buildService({ always: true }), buildDashboard({ always: true })]);
