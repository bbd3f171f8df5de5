// The environment that a step is worked on in: the template of its agent, for the runtime that holds the run.
import type { Transaction } from '#foundation/postgres/database.ts';
import { Project } from '../../projects/projects/model.ts';
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

export interface StepEnvironment extends Omit<TemplateSettings, 'name'> {
  templateId: string;
  templateName: string;
  secrets: DeliveredSecret[];
  /** The network policy of the setup, with all hosts that it allows. */
  setupNetwork: NetworkPolicy;
  agentNetwork: NetworkPolicy;
}

/** A template that was deleted since the agents were chosen is replaced by that of the project, or the built-in one. */
export async function environmentOf(
  trx: Transaction,
  { orgId, projectId }: Run,
  { agent }: RunStep,
): Promise<StepEnvironment> {
  const project = await Project.find({ id: projectId }, trx);
  const ids = [agent.sandboxTemplateId, project?.defaultSandboxTemplateId ?? null];
  const template = await firstOwnTemplate(trx, orgId, ids);
  const { base, image, dockerfile, setupScript, memoryMb, diskMb, processes, ...rest } = template ?? standardTemplate;
  const { stepMinutes, stepModelCalls, stepTokens } = rest;
  return {
    templateId: template?.id ?? standardTemplateId,
    templateName: rest.name,
    ...{ base, image, dockerfile, setupScript, memoryMb, diskMb, processes },
    ...{ stepMinutes, stepModelCalls, stepTokens, services: rest.services },
    ...(await deliverSecrets(trx, { orgId, projectId, templateId: template?.id ?? null }, rest.variables)),
    setupNetwork: resolvePolicy(rest.setupNetwork),
    agentNetwork: resolvePolicy(rest.agentNetwork),
  };
}
