// GraphQL fields of a network connection of a run: the sandbox template whose network policy decides on the connection, and whether the policy
// allows the host. Also the mutation that makes this policy allow a blocked host.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { pathId, request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { loadTemplate, SandboxTemplateType } from '../../projects/sandbox-templates/schema.ts';
import { allowsHost, standardTemplateId } from '../../projects/sandbox-templates/settings.ts';
import { connectionReport } from '../connections/bounds.ts';
import { ConnectionPhase, ConnectionType } from '../connections/schema.ts';
import { allowHost, findDefaultTemplates } from './operations.ts';

const projects = toOne(findDefaultTemplates, ({ id }) => id);

type ConnectionParent = typeof ConnectionType.$inferType;
type Loading = Parameters<typeof projects>[0];

/** The template of the step if it still exists, else the template of the project, else the built-in template. */
async function templateOf({ templateId, projectId }: ConnectionParent, context: Loading) {
  const ofStep = templateId === standardTemplateId ? null : await loadTemplate(context).load(templateId);
  if (ofStep) return ofStep;
  const project = await projects(context).load(projectId);
  return project && loadTemplate(context).load(project.defaultSandboxTemplateId ?? standardTemplateId);
}

builder.objectFields(ConnectionType, (t) => ({
  template: t.field({
    type: SandboxTemplateType,
    nullable: true,
    link: 'agents:read',
    description:
      'The sandbox template that decides now on connections to the host; null for a credential that is bound to a project.',
    resolve: (asked, _, context) => templateOf(asked, context),
  }),
  isAllowedNow: t.boolean({
    nullable: true,
    link: 'agents:read',
    description: 'Whether `template` allows the host in this phase now; null without a template.',
    async resolve(asked, _, context) {
      const template = await templateOf(asked, context);
      if (!template) return null;
      const policy = asked.phase === 'setup' ? template.setupNetwork : template.agentNetwork;
      return allowsHost(policy, asked.host, asked.port);
    },
  }),
}));

const AllowHostRequest = request(
  'AllowHostRequest',
  z
    .object({
      host: boundedText(connectionReport.host).describe('A host that was blocked in the run.'),
      port: z
        .int()
        .min(1)
        .max(65_535)
        .describe('The requested port. If it is 80 or 443, both of these ports are allowed.'),
      phase: ConnectionPhase.zod.describe('The phase in which the host was blocked.'),
    })
    .meta({
      description: 'A blocked connection of a run.',
      examples: [{ host: 'api.example.com', port: 443, phase: 'agent' }],
    }),
);

builder.mutationField('allowHost', (t) =>
  t.field({
    description:
      'Adds a host that was blocked in a run to the sandbox template whose network policy has blocked it. If that is the built-in template, the project gets a new template that allows the host; this also requires `projects:write`. If the host is already allowed, nothing changes.',
    scope: 'agents:write',
    rest: { route: 'POST /runs/{runId}/allowed-hosts', status: 200, errors: [409] },
    tool: { name: 'allow_host', idempotent: true },
    type: SandboxTemplateType,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The id of the run.' }),
      input: t.arg({ type: AllowHostRequest, required: true, description: 'The blocked host.' }),
    },
    resolve: (_, { runId, input }, { caller }) => allowHost(caller, runId, input),
  }),
);
