// Sessions of an agent at a tracker, such as those of Linear: people delegate an issue to the agent or mention it, talk to it in the session,
// and see there what it does. Each vendor that has such sessions implements this port.
import type { VendorConnection } from './connection.ts';

export const planStatuses = ['pending', 'inProgress', 'completed', 'canceled'] as const;

export interface PlanStep {
  content: string;
  status: (typeof planStatuses)[number];
}

/** A message of the agent in its session; texts are Markdown. */
export type SessionActivity =
  /** `isBrief`: the next activity replaces it. */
  | { type: 'thought'; body: string; isBrief?: boolean }
  | { type: 'action'; action: string; parameter: string; result?: string }
  /** A question with suggested answers; people may answer in other words. */
  | { type: 'elicitation'; body: string; choices: string[] }
  | { type: 'response' | 'error'; body: string };

/** Parts of a session that are replaced as a whole. */
export interface SessionState {
  plan?: PlanStep[];
  links?: { label: string; url: string }[];
}

/** The part of an event that is about a session. */
export interface SessionEvent {
  /** The vendor's id of the session, and of the agent's account there. */
  id: string;
  agentId: string;
  /** A session that begins, a further message in it, or the request to stop. */
  action: 'created' | 'prompted' | 'stop';
  /** The vendor's id of the message; that of the session where it begins. */
  messageId: string;
  /** The words of the person; empty for the request to stop. */
  text: string;
}

export interface AgentSessions {
  /** The beginning of the names that `EventSource.nameOf` returns for events about sessions. */
  eventName: string;
  /** Whether the credentials act as this account. @throws a Problem, as all calls do */
  isAgent(connection: VendorConnection, agentId: string): Promise<boolean>;
  /** Shows at the issue that the agent works on it. Fields that a person has set are unchanged. */
  begin(connection: VendorConnection, agentId: string, issueId: string): Promise<void>;
  /** Adds an activity; a repeated call with the same key adds none. */
  send(connection: VendorConnection, sessionId: string, key: string, activity: SessionActivity): Promise<void>;
  update(connection: VendorConnection, sessionId: string, state: SessionState): Promise<void>;
}
