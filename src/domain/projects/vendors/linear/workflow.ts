// Reads and changes the state of an issue in its team's workflow, and the agent to which the issue is delegated.
import { z } from 'zod';
import type { VendorConnection } from '../connection.ts';
import { queryLinear } from './api.ts';

const Named = z.object({ id: z.string() });

const reading = `query IssueState($id: String!, $type: String!) {
  issue(id: $id) {
    delegate { id }
    state { type }
    team { states(filter: { type: { eq: $type } }, first: 100) { nodes { id position } } }
  }
}`;
const IssueState = z.object({
  issue: z.object({
    delegate: Named.nullish(),
    state: z.object({ type: z.string() }),
    team: z.object({ states: z.object({ nodes: z.array(Named.extend({ position: z.number() })) }) }),
  }),
});

export interface Progress {
  /** Type of the issue's current state. */
  type: string;
  /** Id of the team's first state of the requested type; undefined when the team has none. */
  first: string | undefined;
  /** Id of the agent account to which the issue is delegated; null when it is not delegated. */
  delegateId: string | null;
}

export async function readState(
  connection: VendorConnection,
  id: string,
  type: 'started' | 'completed',
): Promise<Progress> {
  const { issue } = await queryLinear(connection, IssueState, reading, { id, type });
  const [first] = issue.team.states.nodes.sort((a, b) => a.position - b.position);
  return { type: issue.state.type, first: first?.id, delegateId: issue.delegate?.id ?? null };
}

const updating = `mutation UpdateIssue($id: String!, $input: IssueUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success }
}`;
const Updated = z.object({ issueUpdate: z.object({ success: z.literal(true) }) });

export const moveIssue = async (
  connection: VendorConnection,
  id: string,
  input: { stateId?: string; delegateId?: string },
): Promise<void> => {
  await queryLinear(connection, Updated, updating, { id, input });
};
