// The effect policy of a run: the policies of its project, of the sandbox templates of its agents and of the rule that started it.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { EffectPolicy } from '../../projects/effects/model.ts';
import { combinePolicies } from '../../projects/effects/policy.ts';
import { Project } from '../../projects/projects/model.ts';
import { isOwnTemplate, policiesOfTemplates } from '../../projects/sandbox-templates/operations.ts';
import type { Run } from './model.ts';

const ofRunSql = 'select team, effect_policy from runs where id = $1';

/** Before the first claim, the agents are not known, so only the template of the run or of the project counts. */
export async function policyOfRun(
  { id, orgId, projectId, sandboxTemplateId }: Pick<Run, 'id' | 'orgId' | 'projectId' | 'sandboxTemplateId'>,
  trx?: Transaction,
): Promise<EffectPolicy> {
  const [run] = await sql<Pick<Run, 'team' | 'effectPolicy'>>(ofRunSql, [id], trx);
  const project = await Project.find({ id: projectId }, trx);
  const ofProject = project?.defaultSandboxTemplateId ?? null;
  const ofAgents = run?.team?.map(({ sandboxTemplateId: own }) => (isOwnTemplate(own) ? own : ofProject)) ?? [
    ofProject,
  ];
  const templates = sandboxTemplateId === null ? ofAgents : [sandboxTemplateId];
  const ids = [...new Set(templates.filter(isOwnTemplate))];
  return combinePolicies([project?.effectPolicy, run?.effectPolicy, ...(await policiesOfTemplates(orgId, ids, trx))]);
}
