// SQL conditions for statements about runs. Some conditions tell whether an agent of the organization can be executed by the runtime that is
// claiming a run. Others tell whether an agent can be executed by at least one connected runtime. An agent needs a runtime that offers its
// harness. An agent with a model also needs credentials for the model, which the runtime or a connector of the organization provides.
import { hasModelConnector, isNamedModel, namedProviders } from '../integrations/operations.ts';
import { standardTemplateId } from '../sandbox-templates/settings.ts';
import {
  anyModelHarnesses,
  builtinAgentId,
  builtinAgents,
  harnesses,
  harnessOptionsOf,
  type ModelProvider,
  modelVendors,
  providerNeeded,
} from './catalog.ts';

const literal = (vendor: ModelProvider | null): string => (vendor === null ? 'null' : `'${vendor}'`);

/** SQL expression that corresponds to `providerNeeded`: the provider of the model that an agent of the table needs; null means none. */
export const vendorOf = (agent: string): string => {
  const models = harnesses.flatMap((harness) => harness.models.map(({ id }) => id));
  const ofHarness = harnesses.map(({ id: harness }) => {
    const others = anyModelHarnesses.includes(harness)
      ? `'model:' || ${agent}.model`
      : literal(providerNeeded({ harness, model: '' }));
    const exceptions = [...new Set(models)].flatMap((model) => {
      const vendor = literal(providerNeeded({ harness, model }));
      return vendor === others ? [] : [`when '${model}' then ${vendor}`];
    });
    const vendor = exceptions.length > 0 ? `case ${agent}.model ${exceptions.join(' ')} else ${others} end` : others;
    return `when '${harness}' then ${vendor}`;
  });
  return `case ${agent}.harness ${ofHarness.join(' ')} end`;
};

// Rows of the built-in agents: one for each harness and model combination of an agent.
const builtins = builtinAgents
  .flatMap((agent) =>
    harnessOptionsOf(agent).map(
      (way) => `('${builtinAgentId(agent)}', '${way.harness}', ${literal(providerNeeded(way))})`,
    ),
  )
  .join(', ');
const builtinRows = `(values ${builtins}) b (id, harness, vendor)`;

/**
 * SQL condition: no model is needed, or the runtime or the organization has credentials for the vendor's models. For models that connectors
 * list, only the organization can have credentials.
 */
const isProvided = (vendor: string, vendors: string, orgId: string): string =>
  `(${vendor} is null or ${vendors} is null and not ${isNamedModel(vendor)} or ${vendor} = any(${vendors})
    or ${hasModelConnector(orgId, vendor)})`;

/**
 * SQL placeholders, such as `$2`, for what a claiming runtime offers: the array of its harnesses, and the array of the vendors for whose
 * models it has credentials. If the second array is null, the runtime has credentials for all vendors.
 */
export interface Placeholders {
  harnesses: string;
  vendors: string;
}

/** SQL condition: the runtime can execute the harness with a model of this vendor. */
export const isRunnable = (
  harness: string,
  vendor: string,
  orgId: string,
  { harnesses, vendors }: Placeholders,
): string => `(${harness} = any(${harnesses}) and ${isProvided(vendor, vendors, orgId)})`;

/** SQL condition: the runtime has all wanted labels. */
export const hasLabels = (offered: string, wanted: string): string => `${wanted} <@ ${offered}`;

/** SQL condition on a row of `runtime_harnesses`: its runtime can execute the harness with a model of this vendor. */
export const isRunnableBy = (offered: string, harness: string, vendor: string, orgId: string): string =>
  `(${offered}.harness = ${harness} and ${isProvided(vendor, `${offered}.vendors`, orgId)})`;

const pairs = harnesses.flatMap(({ id }) => [null, ...modelVendors].map((vendor) => `('${id}', ${literal(vendor)})`));
/**
 * SQL for the rows of `wanted`: all pairs of a harness and a model provider. The column `vendor` contains a vendor, null for no model, or
 * `model:` followed by the id of a model that the organization's connectors list.
 */
export const wantedPairs = (orgId: string): string =>
  `(values ${pairs.join(', ')} union all select h, named.provider from (${namedProviders(orgId)}) named (provider), unnest('{${anyModelHarnesses}}'::text[]) h) wanted (harness, vendor)`;

/**
 * SQL condition on an agent. If `named` is not null, the agent must have this id. If `named` is null, the agent must be one that may work
 * on missions that name no agent.
 */
const mayWork = (agent: string, named: string): string =>
  `(${agent}.id = ${named} or ${named} is null and ${agent}.harness <> 'shell')`;

/**
 * SQL condition: the runtime can execute the named agent or, if `named` is null, any agent that may work on a mission that names no agent.
 */
export const hasAgentFor = (orgId: string, offer: Placeholders, named: string): string =>
  `(exists (select from agents a where a.org_id = ${orgId} and ${isRunnable('a.harness', vendorOf('a'), orgId, offer)}
      and ${mayWork('a', named)})
    or exists (select from ${builtinRows} where ${isRunnable('b.harness', 'b.vendor', orgId, offer)} and ${mayWork('b', named)}))`;

const isConnected = (orgId: string, since: string): string =>
  `(h.org_id is null or h.org_id = ${orgId}) and h.seen_at > ${since}`;

/**
 * SQL condition: the organization has a connected runtime that offers the harness, has the labels, and can use models of the vendor.
 * @param since Placeholder of a time. A runtime counts as connected if it was seen after this time.
 */
export const isOffered = (harness: string, vendor: string, orgId: string, since: string, labels = "'{}'"): string =>
  `exists (select from runtime_harnesses h where ${isRunnableBy('h', harness, vendor, orgId)}
    and ${isConnected(orgId, since)} and ${hasLabels('h.labels', labels)})`;

/**
 * SQL expression: the labels that no connected runtime has. If each label is on some connected runtime but no runtime has all of them, the
 * expression lists all labels. Null when a connected runtime has all labels.
 */
export const missingLabels = (labels: string, orgId: string, since: string): string =>
  `case when ${labels} <> '{}' and not exists (select from runtime_harnesses h
      where ${isConnected(orgId, since)} and ${hasLabels('h.labels', labels)})
    then coalesce((select string_agg(l, ', ') from unnest(${labels}) l where not exists (select from runtime_harnesses h
      where ${isConnected(orgId, since)} and l = any(h.labels))), array_to_string(${labels}, ', ')) end`;

/**
 * SQL condition: the organization has a connected runtime with room for missions of the instance type.
 * @param since Placeholder of a time. A runtime counts as connected if it was seen after this time.
 */
export const hasRoom = (type: string, orgId: string, since: string): string =>
  `exists (select from runtime_harnesses h where ${isConnected(orgId, since)}
    and (h.instance_types is null or ${type} = any(h.instance_types)))`;

/**
 * SQL expression: the newest notice of a runtime that is connected for the organization, prefixed with the runtime's name; null means none.
 */
export const noticeOf = (orgId: string, since: string): string =>
  `(select h.runtime || ': ' || h.notice from runtime_harnesses h where h.notice is not null
    and ${isConnected(orgId, since)} order by h.seen_at desc, h.runtime limit 1)`;

/** SQL query: harness and vendor of the agent or, if `agentId` is null, of all agents that may work on a mission that names no agent. */
export const harnessesFor = (orgId: string, agentId: string): string =>
  `select harness, ${vendorOf('a')} as vendor from agents a where a.org_id = ${orgId} and ${mayWork('a', agentId)}
    union select b.harness, b.vendor from ${builtinRows} where ${mayWork('b', agentId)}`;

/**
 * SQL condition: no model is needed, the organization has connected a model, or a runtime has credentials for one. A runtime counts for a
 * day after it was last seen, so that its restart blocks no schedule.
 */
export const isModelKnown = (harness: string, vendor: string, orgId: string): string =>
  `(${vendor} is null or ${hasModelConnector(orgId, vendor)} or exists (select from runtime_harnesses h
    where (h.org_id is null or h.org_id = ${orgId}) and (${vendor} = any(h.vendors)
      or h.vendors is null and h.harness = ${harness} and not ${isNamedModel(vendor)})))`;

/** SQL expression: the sandbox template of the agent, if the agent belongs to the organization and has a template; null otherwise. */
export const templateOfAgent = (agentId: string): string =>
  `(select nullif(a.sandbox_template_id, '${standardTemplateId}') from agents a where a.id = ${agentId})`;

const builtinIds = builtinAgents.map((agent) => `'${builtinAgentId(agent)}'`).join(', ');

/** SQL condition: neither a stored agent nor a built-in agent has this id. */
export const isNoAgent = (agentId: string): string =>
  `${agentId} not in (${builtinIds}) and not exists (select from agents a where a.id = ${agentId})`;
