// Sessions of an agent at a tracker, such as Linear's agent sessions: people delegate an issue to the agent or mention the agent, talk to
// the agent in the session, and see in it what the agent does. Each vendor that has such sessions implements this port.
import type { VendorConnection } from './connection.ts';

export const planStatuses = ['pending', 'inProgress', 'completed', 'canceled'] as const;

export interface PlanStep {
  content: string;
  status: (typeof planStatuses)[number];
}

/** A message of the agent in its session; texts are Markdown. */
export type SessionActivity =
  /** A thought; with `isBrief`, the next activity replaces it. */
  | { type: 'thought'; body: string; isBrief?: boolean }
  | { type: 'action'; action: string; parameter: string; result?: string }
  /** A question with suggested answers; people may give a different answer. */
  | { type: 'elicitation'; body: string; choices: string[] }
  | { type: 'response' | 'error'; body: string };

/** The fields to change in a session. The new value of a field replaces the whole old value; an absent field stays unchanged. */
export interface SessionState {
  plan?: PlanStep[];
  links?: { label: string; url: string }[];
}

/** The part of an inbound event that describes an agent session. */
export interface SessionEvent {
  /** The vendor's id of the session, and of the agent's account at the vendor. */
  id: string;
  agentId: string;
  /** The event: the session was created, a person has sent a further message, or a person has requested a stop. */
  action: 'created' | 'prompted' | 'stop';
  /** The vendor's id of the message; for a new session, the id of the session. */
  messageId: string;
  /** Text that the person wrote; empty for a request to stop. */
  text: string;
}

export interface AgentSessions {
  /** Prefix of event names about sessions, as `EventSource.nameOf` returns them. */
  eventName: string;
  /** Whether the credentials belong to this account. @throws a Problem, as all calls do */
  isAgent(connection: VendorConnection, agentId: string): Promise<boolean>;
  /** Shows on the issue that the agent is working on it. Fields that a person has already set stay unchanged. */
  begin(connection: VendorConnection, agentId: string, issueId: string): Promise<void>;
  /** Adds an activity; a repeated call with the same key adds no second activity. */
  send(connection: VendorConnection, sessionId: string, key: string, activity: SessionActivity): Promise<void>;
  update(connection: VendorConnection, sessionId: string, state: SessionState): Promise<void>;
}
