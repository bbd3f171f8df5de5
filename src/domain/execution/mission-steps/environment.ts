// The environment of a step, from the template of its agent, for the runtime that holds the run.
import type { Transaction } from '#foundation/postgres/database.ts';
import { type MissionSize, sizeOfMission } from '../../projects/instance-types/sizes.ts';
import { Project } from '../../projects/projects/model.ts';
import type { MissionLimits } from '../../projects/sandbox-templates/mission-limits.ts';
import type { SandboxTemplate } from '../../projects/sandbox-templates/model.ts';
import { firstOwnTemplate } from '../../projects/sandbox-templates/operations.ts';
import {
  type NetworkPolicy,
  resolvePolicy,
  standardTemplate,
  standardTemplateId,
  type TemplateSettings,
} from '../../projects/sandbox-templates/settings.ts';
import { type DeliveredSecret, deliverSecrets } from '../../projects/secrets/delivery.ts';
import type { Run } from '../../work/runs/model.ts';
import type { RunStep } from '../../work/runs/step-model.ts';

export interface StepEnvironment
  extends Omit<TemplateSettings, 'name' | 'labels' | 'effectPolicy' | keyof MissionSize | keyof MissionLimits>,
    MissionSize {
  templateId: string;
  templateName: string;
  secrets: DeliveredSecret[];
  /** The network policy for setup, with all hosts that it allows. */
  setupNetwork: NetworkPolicy;
  agentNetwork: NetworkPolicy;
}

/**
 * The template of a step: set by the rule that started the mission, else chosen by its agent, else (or when that template was deleted) by
 * its project. Null means the built-in template.
 */
export async function templateOf(
  trx: Transaction,
  { orgId, projectId, sandboxTemplateId }: Run,
  { agent }: Pick<RunStep, 'agent'>,
): Promise<SandboxTemplate | undefined> {
  if (sandboxTemplateId !== null) return firstOwnTemplate(trx, orgId, [sandboxTemplateId]);
  const project = await Project.find({ id: projectId }, trx);
  return firstOwnTemplate(trx, orgId, [agent.sandboxTemplateId, project?.defaultSandboxTemplateId ?? null]);
}

export async function environmentOf(trx: Transaction, run: Run, step: RunStep): Promise<StepEnvironment> {
  const { orgId, projectId } = run;
  const isNarrow = run.sandboxTemplateId !== null;
  const template = await templateOf(trx, run, step);
  const { base, image, dockerfile, setupScript, processes, ...rest } = template ?? standardTemplate;
  const { stepMinutes, stepModelCalls, stepTokens } = rest;
  return {
    templateId: template?.id ?? standardTemplateId,
    templateName: rest.name,
    ...{ base, image, dockerfile, setupScript, processes, ...sizeOfMission(run.instanceType, rest) },
    ...{ stepMinutes, stepModelCalls, stepTokens, services: rest.services },
    ...(await deliverSecrets(trx, { orgId, projectId, templateId: template?.id ?? null, isNarrow }, rest.variables)),
    setupNetwork: resolvePolicy(rest.setupNetwork),
    agentNetwork: resolvePolicy(rest.agentNetwork),
  };
}
