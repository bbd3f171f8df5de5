// The records that use a sandbox template. The page of a template lists the projects and agents that use it. A template with any use cannot
// be deleted.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { agentsWithTemplates } from '../../projects/agents/operations.ts';
import { projectsWithTemplates } from '../../projects/projects/operations.ts';
import { deleteTemplate, type FindUses, type TemplateUse } from '../../projects/sandbox-templates/operations.ts';
import { missionsWithTemplate } from '../recurring/events.ts';
import { openRunsWithTemplate } from '../runs/operations.ts';

export const projectsUsing = (ids: readonly string[], caller: Caller): Promise<TemplateUse[]> =>
  projectsWithTemplates(ownOrganization(caller), ids);
export const agentsUsing = (ids: readonly string[], caller: Caller): Promise<TemplateUse[]> =>
  agentsWithTemplates(ownOrganization(caller), ids);

const findUses: FindUses = async (trx, orgId, templateId) => [
  ...(await agentsWithTemplates(orgId, [templateId], trx)).map(({ name }) => `the agent ${name}`),
  ...(await projectsWithTemplates(orgId, [templateId], trx)).map(({ name }) => `the project ${name}`),
  ...(await missionsWithTemplate(trx, orgId, templateId)).map(({ name }) => `a rule of ${name}`),
  ...(await openRunsWithTemplate(trx, orgId, templateId)).map(({ id }) => `the open mission ${id}`),
];

/** Deletes a template that is not used. @throws 404; 409 for the built-in template, and for a template that is used */
export const deleteUnusedTemplate = (caller: Caller, templateId: string): Promise<{ ok: true; id: string }> =>
  deleteTemplate(caller, templateId, findUses);
