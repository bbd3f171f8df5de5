// Places where a sandbox template is used, so that it is not deleted there.
import type { Caller } from '#access/principal.ts';
import { agentsWithTemplate } from '../../projects/agents/operations.ts';
import { projectsWithTemplate } from '../../projects/projects/operations.ts';
import { deleteTemplate, type FindUses } from '../../projects/sandbox-templates/operations.ts';
import { openRunsWithTemplate } from '../runs/operations.ts';

const findUses: FindUses = async (trx, orgId, templateId) => [
  ...(await agentsWithTemplate(trx, orgId, templateId)).map(({ name }) => `the agent ${name}`),
  ...(await projectsWithTemplate(trx, orgId, templateId)).map(({ name }) => `the project ${name}`),
  ...(await openRunsWithTemplate(trx, orgId, templateId)).map(({ id }) => `the open mission ${id}`),
];

/** @throws 404; 409 for the built-in one, and where it is used */
export const deleteUnusedTemplate = (caller: Caller, templateId: string): Promise<{ ok: true; id: string }> =>
  deleteTemplate(caller, templateId, findUses);
