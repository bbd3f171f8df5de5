// Handles runs that no runtime executes (docs/decisions/0034-waiting-runs.md). A run waits again when its lease has expired. The runtime
// that had the lease may then resume the run, or another runtime may claim the run. A run that waits too long fails.

import { hours, minutes, now } from '#foundation/clock.ts';
import { announce, announcing } from '#foundation/postgres/changes.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { lease, maxWaitMs, silenceMs } from '#limits.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { harnessIds } from '../../projects/agents/model.ts';
import {
  harnessesFor,
  hasRoom,
  isModelKnown,
  isNoAgent,
  isOffered,
  missingLabels,
  noticeOf,
} from '../../projects/agents/runnable.ts';
import { connectedSince } from '../../projects/agents/runtime-harnesses.ts';
import { noRoomSql } from '../../projects/instance-types/sizes.ts';
import { idOfNamedModel, isNamedModel } from '../../projects/integrations/operations.ts';
import { labelsOfRun } from './claimable.ts';
import { announceFailed, cancelRuns } from './finish.ts';
import type { Run } from './model.ts';
import { isInState, moveRunsSql, waitingStates, waitsForRuntime } from './states.ts';

const batch = 100;
const isWritable = isWritableSql('runs.org_id');

// The run keeps the id of its expired lease until another runtime claims the run. Until then, the runtime that had the lease can resume the
// run.
const releaseExpiredLeasesSql = `with expired as (
    select id from runs where ${isInState(['running'])} and lease_until <= $1 and pauses_at is null and ${isWritable}
    order by lease_until limit ${batch} for update skip locked
  )
  ${moveRunsSql('waitingForRuntime', {
    from: ['running'],
    set: `lease_until = null, silent_since = r.lease_until - ${lease.lastsMs}, waiting_since = $1,
      reason = 'The runtime ' || coalesce(claimed_by, '') || ' stopped sending heartbeats: the run waits for this runtime, or for another one.',
      last_error = 'The runtime ' || coalesce(claimed_by, '') || ' stopped sending heartbeats.',
      mission_progress = null, mission_activity = null, updated_at = $1`,
    source: 'from expired',
    where: 'r.id = expired.id',
  })} returning r.id`;

const failSilentRunsSql = `with silent as (
    select id from runs where ${isInState(['waitingForRuntime'])} and silent_since <= $2 and parked_at is null and ${isWritable}
    order by silent_since limit ${batch} for update skip locked
  )
  ${moveRunsSql('failed', {
    from: ['waitingForRuntime'],
    set: `finished_at = $1, lease_id = null, lease_until = null, updated_at = $1,
      reason = 'The runtime ' || coalesce(claimed_by, '') || ' did not reconnect within ${silenceMs.failed / minutes(1)} minutes, and no other runtime claimed the run.'`,
    source: 'from silent',
    where: 'r.id = silent.id',
  })} returning r.id, r.issue_id`;

const failOverdueRunsSql = `with overdue as (
    select id from runs where ${isInState(waitingStates)} and coalesce(waiting_since, created_at) <= $2 and ${isWritable}
    order by created_at limit ${batch} for update skip locked
  )
  ${moveRunsSql('failed', {
    from: waitingStates,
    set: `finished_at = $1, lease_id = null, lease_until = null, updated_at = $1, awaits_approval = false, interrupted_at = null,
      reason = coalesce(reason, 'No runtime claimed the run.'), last_error = 'The run waited for ${maxWaitMs / hours(1)} hours.'`,
    source: 'from overdue',
    where: 'r.id = overdue.id',
  })} returning r.id, r.issue_id`;

type Failed = Pick<Run, 'id' | 'issueId'>;

/** Returns runs with an expired lease to the waiting state, and fails those whose runtime has been silent for ten minutes. */
export async function releaseSilentRuns(): Promise<void> {
  await transaction(async (trx) => {
    const released = await sql<Pick<Run, 'id'>>(releaseExpiredLeasesSql, [now()], trx);
    await announce(trx, ...released.map(({ id }) => id));
  });
  await transaction(async (trx) => {
    const at = now();
    await announceFailed(trx, await sql<Failed>(failSilentRunsSql, [at, at - silenceMs.failed], trx));
  });
}

/** Fails runs that no runtime claimed within a day. Their `reason` still says why they waited. */
export const failOverdueRuns = (): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    await announceFailed(trx, await sql<Failed>(failOverdueRunsSql, [at, at - maxWaitMs], trx));
  });

const deletedAgentsSql = `select distinct agent_id from runs r where ${isInState(waitingStates, 'r')}
  and agent_id is not null and ${isNoAgent('r.agent_id')}`;

/** Cancels runs that wait for an agent that was deleted. */
export const cancelRunsOfDeletedAgents = (): Promise<void> =>
  transaction(async (trx) => {
    const deleted = await sql<{ agentId: string }>(deletedAgentsSql, [], trx);
    for (const { agentId } of deleted) {
      await cancelRuns(trx, { agentId }, 'The agent of the run was deleted.', waitingStates);
    }
  });

const waits = `${waitsForRuntime('r')} and r.silent_since is null
  and coalesce(r.agent_choice ->> 'way', '') <> 'asked'`;
/** SQL expression that corresponds to `describeLabels`, for a list of labels. */
const labelsText = (list: string): string =>
  `case when ${list} like '%, %' then 'the labels ' else 'the label ' end || ${list}`;

/** Columns that decide why a run waits: runs with the same values have the same reason. */
const deciding =
  'org_id, project_id, agent_id, next_harness, next_vendor, next_template_id, sandbox_template_id, instance_type';

// Finds the reason why each run waits, and returns the reasons that differ from the recorded reasons. Thousands of runs may wait, so the
// reason is found only once for all runs that have the same values in the columns of `deciding`.
const findReasonsSql = `with kind as materialized (
      select ${deciding}, reason, array_agg(id) as ids from runs r where ${waits} group by ${deciding}, reason
    ),
    waiting as materialized (select ${deciding}, reason, ids, ${labelsOfRun('r')} as labels from kind r),
    org as (select distinct org_id, agent_id, next_harness, next_vendor, labels from waiting),
    offer as (
      select org.org_id, org.agent_id, org.next_harness, org.next_vendor, org.labels, wanted.harness, wanted.vendor,
        ${isOffered('wanted.harness', 'wanted.vendor', 'org.org_id', '$1::bigint', 'org.labels')} as connected,
        ${isOffered('wanted.harness', 'null::text', 'org.org_id', '$1::bigint', 'org.labels')} as installed,
        ${missingLabels('org.labels', 'org.org_id', '$1::bigint')} as missing,
        ${noticeOf('org.org_id', '$1::bigint')} as notice,
        ${isModelKnown('wanted.harness', 'wanted.vendor', 'org.org_id')} as has_model
      from org cross join lateral (
        select harness, vendor from (${harnessesFor('org.org_id', 'org.agent_id')}) any_agent where org.next_harness is null
        union all select org.next_harness, org.next_vendor where org.next_harness is not null
      ) wanted
    ),
    explanation as (
      select org_id, agent_id, next_harness, next_vendor, labels,
        case when max(missing) is not null then 'No connected runtime has ' || ${labelsText('max(missing)')} || '.'
        when bool_or(connected) then 'Waiting for a connected runtime to be free.'
        when bool_and(coalesce(${isNamedModel('vendor')}, false)) and not bool_or(has_model) then
          'No connector with a key lists the model ' || string_agg(distinct ${idOfNamedModel('vendor')}, ' or ')
          || ': add it to a model connector, or choose another model for the agent.'
        when bool_or(installed and not ${isNamedModel('vendor')}) then 'The connected runtimes have no key for a model of ' ||
          string_agg(distinct case vendor when 'openai' then 'OpenAI' else 'Anthropic' end, ' or ')
            filter (where installed and not ${isNamedModel('vendor')})
          || ': connect one to the organization.'
        when not bool_or(has_model) then 'No model is connected: connect one to the organization.'
        else 'No runtime with the harness ' || (select string_agg(h, ' or ' order by n)
            from unnest($2::text[]) with ordinality u (h, n) where h = any(array_agg(harness)))
          || case when labels <> '{}' then ' and ' || ${labelsText("array_to_string(labels, ', ')")} else '' end
          || ' is connected.' || coalesce(' ' || max(notice), '') end as reason
      from offer group by org_id, agent_id, next_harness, next_vendor, labels
    ),
    found as (
      select waiting.ids, waiting.reason as former, case when waiting.instance_type is null or ${hasRoom('waiting.instance_type', 'waiting.org_id', '$1::bigint')}
        then explanation.reason else ${noRoomSql('waiting.instance_type')} end as reason
      from waiting join explanation
        on waiting.org_id = explanation.org_id and waiting.agent_id is not distinct from explanation.agent_id
          and waiting.next_harness is not distinct from explanation.next_harness
          and waiting.next_vendor is not distinct from explanation.next_vendor and waiting.labels = explanation.labels
    )
  select ids, reason from found where former is distinct from reason`;

// The statement receives the ids of the runs as `$1` and does not join the query that finds them. With a join, PostgreSQL would underestimate the
// number of waiting runs and compare every pair of rows, which is slow. Rows that another process has locked are skipped.
const setReasonSql = announcing(`update runs r set reason = $2, updated_at = $3 from (
    select r.id as run_id from runs r where r.id = any($1) and ${waits} and r.reason is distinct from $2 for no key update skip locked
  ) free where r.id = free.run_id`);
/** Maximum number of runs whose reason is written by one statement. */
const maxExplained = 1_000;

/**
 * Records the reason why each run waits for a runtime, such as a missing model or harness, or busy runtimes. Executed in every process.
 */
export async function explainWaits(): Promise<void> {
  const found = await sql<{ ids: string[]; reason: string | null }>(findReasonsSql, [connectedSince(), harnessIds]);
  for (const { ids, reason } of found) {
    for (let from = 0; from < ids.length; from += maxExplained) {
      await sql(setReasonSql, [ids.slice(from, from + maxExplained), reason, now()]);
    }
  }
}
