// Finds the connector for an agent session: the connector whose credentials belong to the agent's account.
import { seconds } from '#foundation/clock.ts';
import { conflict } from '#foundation/problem.ts';
import { Integration, profiles } from '../../projects/integrations/model.ts';
import { noteCheck } from '../../projects/integrations/operations.ts';
import type { AgentSessions, SessionEvent } from '../../projects/vendors/agent-session.ts';
import { connectTo, isFinal, type VendorConnection } from '../../projects/vendors/connection.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import type { InboundHook } from '../../work/inbound-hooks/model.ts';

/** Time limit that all calls of one job share. */
const timeoutMs = seconds(20);

export interface OpenSessions {
  sessions: AgentSessions;
  connection: VendorConnection;
}

/**
 * Runs calls to the vendor. If the vendor rejects the credentials of the connector, the error message is stored in the connector.
 * @throws the problems of the vendor
 */
export async function withSessions<T>(connector: Integration, work: (open: OpenSessions) => Promise<T>): Promise<T> {
  try {
    const connection = await connectTo(connector, timeoutMs);
    return await work({ sessions: moduleOf(connector.vendor).sessions!, connection });
  } catch (error) {
    const refused = isFinal(error) && (await Integration.find({ id: connector.id }));
    if (refused && refused.brokenSince !== null)
      await noteCheck(refused, { failure: error.body.description, account: null });
    throw error;
  }
}

/** The connector that acts as the agent of the session. @throws 409 without one; the problems of the vendor */
export async function findConnector({ orgId, vendor }: InboundHook, { agentId }: SessionEvent): Promise<Integration> {
  const own = { orgId, vendor: vendor as Integration['vendor'], vendorKind: 'tracker' as const, hasCredentials: true };
  let refusal: unknown = null;
  for (const connector of await Integration.findAll(own)) {
    try {
      if (await withSessions(connector, ({ sessions, connection }) => sessions.isAgent(connection, agentId)))
        return connector;
    } catch (error) {
      if (!isFinal(error)) throw error;
      refusal ??= error;
    }
  }
  const { title } = profiles[own.vendor];
  throw (
    refusal ??
    conflict(`No connector belongs to the ${title} application of this agent session: connect that application.`)
  );
}
