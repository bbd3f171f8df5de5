// Uses of sandbox templates, and the deletion of templates, which is refused while a template is used.
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { members, string } from '#graph/members.ts';
import { maxUsesShown } from '../../projects/sandbox-templates/bounds.ts';
import { SandboxTemplateType } from '../../projects/sandbox-templates/schema.ts';
import { agentsUsing, deleteUnusedTemplate, projectsUsing } from './operations.ts';

const TemplateUseType = builder.objectRef<Awaited<ReturnType<typeof projectsUsing>>[number]>('TemplateUse').implement({
  description: 'A project or agent that has chosen a sandbox template.',
  fields: (t) =>
    members(t, {
      id: string('The id of the project or agent.'),
      name: string('The name of the project or agent.'),
    }),
});
const projectsOf = toMany(projectsUsing, ({ templateId }) => templateId);
const agentsOf = toMany(agentsUsing, ({ templateId }) => templateId);
builder.objectFields(SandboxTemplateType, (t) => ({
  projects: t.field({
    type: [TemplateUseType],
    nullable: true,
    link: 'projects:read',
    description: `Projects that have chosen the template as their default, by name, ${maxUsesShown} at most; null without \`projects:read\`.`,
    resolve: ({ id }, _, context) => projectsOf(context).load(id),
  }),
  agents: t.field({
    type: [TemplateUseType],
    graphOnly: true,
    description: `Agents of the organization that have chosen the template, by name; ${maxUsesShown} at most.`,
    resolve: ({ id }, _, context) => agentsOf(context).load(id),
  }),
}));

const DeleteSandboxTemplateResponse = okIdAnswer('DeleteSandboxTemplateResponse');

builder.mutationFields((t) => ({
  deleteSandboxTemplate: t.field({
    description:
      'Deletes a sandbox template. 409 while a project, an agent or an open mission uses it; the error names them.',
    scope: 'agents:write',
    rest: { route: 'DELETE /sandbox-templates/{templateId}', errors: [409] },
    tool: { name: 'delete_sandbox_template', destructive: true, idempotent: true },
    type: DeleteSandboxTemplateResponse,
    args: { templateId: t.arg.string(pathId) },
    resolve: (_, { templateId }, { caller }) => deleteUnusedTemplate(caller, templateId),
  }),
}));
