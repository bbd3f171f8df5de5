// The environment that a step is worked on in: the template of its agent, for the runtime that holds the run.
import {
  type NetworkPolicy,
  resolvePolicy,
  standardTemplate,
  standardTemplateId,
  type TemplateSettings,
} from '../../projects/sandbox-templates/settings.ts';

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

export function environmentOf(): StepEnvironment {
  const { name: templateName, setupNetwork, agentNetwork, ...settings } = standardTemplate;
  return {
    templateId: standardTemplateId,
    templateName,
    ...settings,
    secrets: [],
    setupNetwork: resolvePolicy(setupNetwork),
    agentNetwork: resolvePolicy(agentNetwork),
  };
}
