// Deletion of sandbox templates, which asks agents, projects and missions first.
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { deleteUnusedTemplate } from './operations.ts';

const DeleteSandboxTemplateResponse = okIdAnswer('DeleteSandboxTemplateResponse');

builder.mutationFields((t) => ({
  deleteSandboxTemplate: t.field({
    description:
      'Deletes a sandbox template. One that a project, an agent or an open mission uses stays: a 409 says where.',
    scope: 'agents:write',
    rest: { route: 'DELETE /sandbox-templates/{templateId}', errors: [409] },
    tool: { name: 'delete_sandbox_template', destructive: true, idempotent: true },
    type: DeleteSandboxTemplateResponse,
    args: { templateId: t.arg.string(pathId) },
    resolve: (_, { templateId }, { caller }) => deleteUnusedTemplate(caller, templateId),
  }),
}));
