// SQL conditions that decide which runs a runtime can take. Claims apply them, and the queues of runtimes are counted with them.
import { lease } from '#limits.ts';
import {
  hasAgentFor,
  hasLabels,
  isRunnable,
  type Placeholders,
  templateOfAgent,
} from '../../projects/agents/runnable.ts';
import { templateOfProject } from '../../projects/projects/model.ts';
import { labelsOfTemplate } from '../../projects/sandbox-templates/labels.ts';
import { waitsForRuntime } from './states.ts';

// The sandbox template of the next step. Before the first step of a run that names no agent, the template of the project is used, because the agents
// are chosen only at the first claim.
const templateOfRun = (run: string): string =>
  `coalesce(${run}.next_template_id, ${run}.sandbox_template_id, ${templateOfAgent(`${run}.agent_id`)}, ${templateOfProject(`${run}.project_id`)})`;

/** SQL expression: the labels that the next step of the run needs, from the current version of the step's sandbox template. */
export const labelsOfRun = (run: string): string => labelsOfTemplate(templateOfRun(run), `${run}.org_id`);

/** SQL expressions for what a runtime can execute; null for the organization, vendors or instance types means that the runtime accepts all. */
export interface OfferSql extends Placeholders {
  orgId: string;
  types: string;
  labels: string;
  /** Whether the runtime answers calls from recordings. */
  replays: string;
}

/**
 * Returns the SQL condition that a runtime with the capabilities `offer` can work on the waiting run `r`. Between steps, the runtime needs the
 * harness and a model of the next step. Before the first step, the runtime needs the harness and a model of the agent that the run names. If the
 * run names no agent, the harness and a model of any agent of the organization suffice.
 */
export const canTake = (offer: OfferSql): string =>
  `${waitsForRuntime('r')} and (r.recurring_id is not null or r.prompt is not null)
      and (${offer.orgId} is null or r.org_id = ${offer.orgId}) and r.claims < ${lease.claims}
      and (${offer.replays} or not r.is_replaying)
      and (${offer.types} is null or r.instance_type is null or r.instance_type = any(${offer.types}))
      and ${hasLabels(offer.labels, labelsOfRun('r'))}
      and case when r.next_harness is not null then ${isRunnable('r.next_harness', 'r.next_vendor', 'r.org_id', offer)}
        else ${hasAgentFor('r.org_id', offer, 'r.agent_id')} end`;
