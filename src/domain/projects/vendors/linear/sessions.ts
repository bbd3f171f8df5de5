// Agent sessions in Linear (linear.app/developers/agent-interaction): activities, plan and external URLs. Ids of activities are derived
// from their keys, so that Linear refuses a repeated activity.
import { z } from 'zod';
import type { AgentSessions, SessionActivity } from '../agent-session.ts';
import { onlyOnce, queryLinear } from './api.ts';
import { recordId } from './ids.ts';
import { sessionEventName } from './session-events.ts';
import { moveIssue, readState } from './workflow.ts';

/** Maximum lengths of texts in an agent session, in characters. */
const limits = { body: 10_000, parameter: 500, option: 200 } as const;
const clip = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;

export const linearSessions: AgentSessions = {
  eventName: sessionEventName,
  async isAgent(connection, agentId) {
    return (await queryLinear(connection, Viewer, 'query Viewer { viewer { id } }', {})).viewer.id === agentId;
  },
  async begin(connection, agentId, issueId) {
    const { type, first, delegateId } = await readState(connection, issueId, 'started');
    const stays = ['started', 'completed', 'canceled'].includes(type);
    const input = {
      ...(delegateId === null && { delegateId: agentId }),
      ...(first !== undefined && !stays && { stateId: first }),
    };
    if (Object.keys(input).length > 0) await moveIssue(connection, issueId, input);
  },
  async send(connection, agentSessionId, key, activity) {
    const id = recordId('activity', agentSessionId, key);
    await onlyOnce<unknown>(
      () => queryLinear(connection, Created, creation, { input: { id, agentSessionId, ...inputOf(activity) } }),
      () => queryLinear(connection, Existing, existing, { id }),
    );
  },
  async update(connection, id, { plan, links }) {
    await queryLinear(connection, Updated, updating, { id, input: { plan, externalUrls: links } });
  },
};

function inputOf(activity: SessionActivity): object {
  if (activity.type === 'action') {
    const { type, action, parameter, result } = activity;
    const content = { type, action, parameter: clip(parameter, limits.parameter) };
    return { content: result === undefined ? content : { ...content, result: clip(result, limits.body) } };
  }
  const { type } = activity;
  const content = { type, body: clip(activity.body, limits.body) };
  if (type === 'thought') return activity.isBrief ? { content, ephemeral: true } : { content };
  if (type !== 'elicitation' || activity.choices.length === 0) return { content };
  const options = activity.choices.map((choice) => ({ label: clip(choice, limits.option), value: choice }));
  return { content, signal: 'select', signalMetadata: { options } };
}

const Viewer = z.object({ viewer: z.object({ id: z.string() }) });

const creation = `mutation CreateActivity($input: AgentActivityCreateInput!) {
  agentActivityCreate(input: $input) { success }
}`;
const Created = z.object({ agentActivityCreate: z.object({ success: z.literal(true) }) });

const existing = 'query Activity($id: String!) { agentActivity(id: $id) { id } }';
const Existing = z.object({ agentActivity: z.object({ id: z.string() }) });

const updating = `mutation UpdateSession($id: String!, $input: AgentSessionUpdateInput!) {
  agentSessionUpdate(id: $id, input: $input) { success }
}`;
const Updated = z.object({ agentSessionUpdate: z.object({ success: z.literal(true) }) });
