// Labels that a runtime must have for the next step of a run: those of the step's sandbox template, as it is now.
import { templateOfAgent } from '../../projects/agents/runnable.ts';
import { templateOfProject } from '../../projects/projects/model.ts';
import { labelsOfTemplate } from '../../projects/sandbox-templates/labels.ts';

// Before the first step of a run that names no agent, the template of its project counts: the agents are chosen at the first claim.
const templateOfRun = (run: string): string =>
  `coalesce(${run}.next_template_id, ${run}.sandbox_template_id, ${templateOfAgent(`${run}.agent_id`)}, ${templateOfProject(`${run}.project_id`)})`;

/** SQL expression: the labels that the next step of the run needs. */
export const labelsOfRun = (run: string): string => labelsOfTemplate(templateOfRun(run), `${run}.org_id`);
