// Conditions in SQL that statements on runs include: which agents of an organization can be executed, by a runtime that claims or by
// those that are connected. An agent with a model needs a runtime that offers its harness and has credentials for the model; those
// of the organization's own connectors do for every runtime.
import { hasModelConnector } from '../integrations/operations.ts';
import { builtinAgentId, builtinAgents, harnesses, vendorNeeded, vendorOfModel } from './catalog.ts';

const openaiModels = harnesses
  .find(({ id }) => id === 'opencode')!
  .models.filter(({ id }) => vendorOfModel(id) === 'openai')
  .map(({ id }) => id);

/** Whose model an agent in the table `agents` needs; null: none. As `vendorNeeded`. */
const vendorOf = (agent: string): string =>
  `case ${agent}.harness when 'claude-code' then 'anthropic' when 'codex' then 'openai' when 'opencode' then
    case when ${agent}.model in ('${openaiModels.join("', '")}') then 'openai' else 'anthropic' end end`;

const builtins = builtinAgents
  .map((agent) => {
    const vendor = vendorNeeded(agent);
    return `('${builtinAgentId(agent)}', '${agent.harness}', ${vendor ? `'${vendor}'` : 'null'}, ${agent.isFallback})`;
  })
  .join(', ');
const builtinRows = `(values ${builtins}) b (id, harness, vendor, is_fallback)`;

/** A condition: there are credentials for models of the vendor: none is needed, the runtime has them, or the organization. */
const isProvided = (vendor: string, vendors: string, orgId: string): string =>
  `(${vendor} is null or ${vendors} is null or ${vendor} = any(${vendors}) or ${hasModelConnector(orgId, vendor)})`;

/** What a claiming runtime offers, as placeholders of arrays; `vendors` null: all. */
export interface Placeholders {
  harnesses: string;
  vendors: string;
}

/** A condition: the runtime can execute the harness with a model of this vendor. */
export const isRunnable = (
  harness: string,
  vendor: string,
  orgId: string,
  { harnesses, vendors }: Placeholders,
): string => `(${harness} = any(${harnesses}) and ${isProvided(vendor, vendors, orgId)})`;

/** A condition: it can execute an agent of the organization's own, or this one. */
export const hasAgentFor = (orgId: string, offer: Placeholders, agentId?: string): string =>
  `exists (select from agents a where a.org_id = ${orgId} and ${isRunnable('a.harness', vendorOf('a'), orgId, offer)}
    ${agentId ? ` and a.id = ${agentId}` : ''})`;

/** A condition: it can execute a built-in agent: an ordinary one, the fallback, or this one. */
export const hasBuiltinFor = (
  orgId: string,
  offer: Placeholders,
  which: 'ordinary' | 'fallback' | { id: string },
): string => {
  const isMeant =
    typeof which === 'object' ? `b.id = ${which.id}` : which === 'fallback' ? 'b.is_fallback' : 'not b.is_fallback';
  return `exists (select from ${builtinRows} where ${isMeant} and ${isRunnable('b.harness', 'b.vendor', orgId, offer)})`;
};

/** A condition: a runtime that offers the harness is connected for the organization, with a model of the vendor. `since`: a placeholder. */
export const isOffered = (harness: string, vendor: string, orgId: string, since: string): string =>
  `exists (select from runtime_harnesses h where h.harness = ${harness} and (h.org_id is null or h.org_id = ${orgId})
    and h.seen_at > ${since} and ${isProvided(vendor, 'h.vendors', orgId)})`;

/** An expression: the newest notice of a runtime that is connected for the organization, with its name; null: there is none. */
export const noticeOf = (orgId: string, since: string): string =>
  `(select h.runtime || ': ' || h.notice from runtime_harnesses h where h.notice is not null
    and (h.org_id is null or h.org_id = ${orgId}) and h.seen_at > ${since} order by h.seen_at desc, h.runtime limit 1)`;

/** A condition: no connected runtime can execute a built-in agent other than the fallback. */
export const onlyFallbackIsConnected = (orgId: string, since: string): string =>
  `not exists (select from ${builtinRows} where not b.is_fallback and ${isOffered('b.harness', 'b.vendor', orgId, since)})`;

/** A query: harness and vendor of the agent or, where the agent is null, those of the organization's own and of all built-in agents. */
export const harnessesFor = (orgId: string, agentId: string): string =>
  `select harness, ${vendorOf('a')} as vendor from agents a where a.org_id = ${orgId} and (${agentId} is null or a.id = ${agentId})
    union select b.harness, b.vendor from ${builtinRows} where ${agentId} is null or b.id = ${agentId}`;

const builtinIds = builtinAgents.map((agent) => `'${builtinAgentId(agent)}'`).join(', ');

/** A condition: no agent has this id, neither a stored nor a built-in one. */
export const isNoAgent = (agentId: string): string =>
  `${agentId} not in (${builtinIds}) and not exists (select from agents a where a.id = ${agentId})`;
