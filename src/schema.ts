// The table of contents: what the service knows. Importing a noun's schema announces it to the builder.
import './domain/people/schema.ts';
import './domain/organizations/schema.ts';
import './domain/memberships/schema.ts';
import './domain/invites/schema.ts';
import './domain/integrations/schema.ts';
import './domain/projects/schema.ts';
import './domain/tokens/schema.ts';
import './domain/delegations/schema.ts';
import './domain/offboarding/schema.ts';
import './domain/closure/export-fields.ts';
import './domain/closure/schema.ts';
import './domain/me/schema.ts';
import './domain/issues/schema.ts';
import './domain/scheduled-tasks/schema.ts';
import './domain/automations/schema.ts';
import './domain/recurring/schema.ts';
import './domain/agents/schema.ts';
import './domain/orchestrator/schema.ts';
import './domain/vendors/schema.ts';
import './domain/sandboxes/schema.ts';
import './domain/sandboxes/live.ts';
import './domain/environments/schema.ts';
import './domain/artifacts/schema.ts';
import './domain/runs/schema.ts';
import './domain/runs/live.ts';
import './domain/missions/schema.ts';
import './domain/checkpoints/schema.ts';
import './domain/mcp-servers/schema.ts';
import './domain/setup/schema.ts';
import './domain/notices/schema.ts';
import './domain/runtime/schema.ts';
import './domain/credits/schema.ts';
import './domain/plans/schema.ts';
import './domain/billing/schema.ts';
import { builder } from '#graph/builder.ts';

/** Fields keep the order in which they are declared: it is the key order of REST bodies. */
export const schema = builder.toSchema({ sortSchema: false });
