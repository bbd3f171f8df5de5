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
import type { Run } from '../../work/runs/model.ts';
import type { RunStep } from '../../work/runs/step-model.ts';

/** A value that a runtime keeps from the agent, or hands over for setup alone. */
export interface StepSecret {
  name: string;
  value: string;
  hosts: string[];
  setupOnly: boolean;
}

export interface StepEnvironment extends Omit<TemplateSettings, 'name'> {
  templateId: string;
  templateName: string;
  secrets: StepSecret[];
  /** With all hosts that the policy allows. */
  setupNetwork: NetworkPolicy;
  agentNetwork: NetworkPolicy;
}

/** A template that was deleted since the agents were chosen is replaced by that of the project, or the built-in one. */
export async function environmentOf(trx: Transaction, run: Run, { agent }: RunStep): Promise<StepEnvironment> {
  const project = await Project.find({ id: run.projectId }, trx);
  const ids = [agent.sandboxTemplateId, project?.defaultSandboxTemplateId ?? null];
  const template = await firstOwnTemplate(trx, run.orgId, ids);
  const { base, image, dockerfile, setupScript, memoryMb, diskMb, processes, ...rest } = template ?? standardTemplate;
  return {
    templateId: template?.id ?? standardTemplateId,
    templateName: rest.name,
    ...{ base, image, dockerfile, setupScript, memoryMb, diskMb, processes },
    variables: rest.variables,
    secrets: [],
    setupNetwork: resolvePolicy(rest.setupNetwork),
    agentNetwork: resolvePolicy(rest.agentNetwork),
  };
}
