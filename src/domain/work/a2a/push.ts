// Push notifications of agent-to-agent tasks (A2A 1.0 §4.3): the URLs that a client has registered for a task, and a notification for each
// change of its status. A notification is a background job; it is signed, and sent to public URLs only.
import { createHash } from 'node:crypto';
import { StreamResponse } from '@a2a-js/sdk';
import type { Caller } from '#access/principal.ts';
import { ownPerson } from '#access/reach.ts';
import { now, seconds } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { checkAddress, OutboundError, sendRequest } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import { signJwt } from '../../identity/oauth/keys.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { openStatuses, Run, type RunStatus } from '../runs/model.ts';
import { findRun } from '../runs/operations.ts';
import { isWaiting } from '../runs/states.ts';
import { messagesOfRuns } from './messages.ts';
import { awaitsApproval, findQuestions } from './questions.ts';
import { taskOf } from './tasks.ts';

export const configsPerTask = 10;
const timeoutMs = seconds(10);
/** Maximum length of a receiver's response. */
const maxBytes = 64 * 1024;
/** Validity of a notification's signature. */
const signatureSeconds = 300;

export interface PushConfig {
  id: string;
  runId: string;
  url: string;
  token: string | null;
  authentication: { scheme: string; credentials: string } | null;
}
type Secrets = Pick<PushConfig, 'token' | 'authentication'>;

interface Stored {
  id: string;
  runId: string;
  orgId: string;
  userId: string;
  url: string;
  sealedSecrets: string;
}

const columns = 'id, run_id, org_id, user_id, url, sealed_secrets';
export const pushPurpose = (runId: string, id: string): string => `a2a-push:${runId}:${id}`;
const configOf = ({ id, runId, url, sealedSecrets }: Stored): PushConfig => ({
  id,
  runId,
  url,
  ...(JSON.parse(unseal(pushPurpose(runId, id), sealedSecrets)) as Secrets),
});

const saveSql = `insert into a2a_push_configs (run_id, id, org_id, user_id, url, sealed_secrets, told_status, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (run_id, id) do update set url = excluded.url, sealed_secrets = excluded.sealed_secrets, user_id = excluded.user_id`;

/**
 * Registers a URL, or replaces the registration with the same id. @throws 400 for a URL that is not public, 404 for an unknown task, 409
 * when the task has the maximum number of registrations
 */
export async function savePushConfig(
  caller: Caller,
  { runId, id = newId('request').replace('req_', 'push_'), url, ...secrets }: Omit<PushConfig, 'id'> & { id?: string },
): Promise<PushConfig> {
  const run = await findRun(caller, runId);
  const userId = ownPerson(caller);
  await requirePublicAddress(url);
  const sealed = seal(pushPurpose(runId, id), JSON.stringify(secrets));
  await transaction(async (trx) => {
    // The lock serializes concurrent calls, so that the maximum is not exceeded.
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`a2a-push ${runId}`]);
    const others = await sql('select id from a2a_push_configs where run_id = $1 and id <> $2', [runId, id], trx);
    if (others.length >= configsPerTask) {
      throw conflict(`A task can have at most ${configsPerTask} push notification configurations.`);
    }
    await sql(saveSql, [runId, id, run.orgId, userId, url, sealed, run.status, now()], trx);
  });
  return { id, runId, url, ...secrets };
}

/** Checks that notifications can be sent to the URL. @throws 400 for a URL that is not public */
export async function requirePublicAddress(url: string): Promise<void> {
  try {
    await checkAddress(url, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    // The message of the error may reveal addresses of the internal network.
    if (error instanceof OutboundError) throw invalid.field('url', 'must be an https URL of a public host');
    throw error;
  }
}

/** Lists the push notification configurations of a task. @throws 404 for an unknown task */
export async function listPushConfigs(caller: Caller, runId: string): Promise<PushConfig[]> {
  await findRun(caller, runId);
  const text = `select ${columns} from a2a_push_configs where run_id = $1 order by created_at, id`;
  return (await sql<Stored>(text, [runId])).map(configOf);
}

/** Deletes a configuration; does nothing for an unknown configuration. @throws 404 for an unknown task */
export async function deletePushConfig(caller: Caller, runId: string, id: string): Promise<void> {
  await findRun(caller, runId);
  await sql('delete from a2a_push_configs where run_id = $1 and id = $2', [runId, id]);
}

// The statuses are literals, as in the condition of the partial index.
const openSql = `select distinct run_id from a2a_push_configs
  where told_status in (${openStatuses.map((status) => `'${status}'`).join(', ')})`;
const tellSql = `update a2a_push_configs set told_status = $2, told_input_required = $3
  where run_id = $1 and (told_status, told_input_required) is distinct from ($2, $3::boolean) returning id`;

/** Writes a notification for each open task whose state has changed since the last one. */
export async function writePushNotifications(): Promise<void> {
  const open = await sql<{ runId: string }>(openSql);
  if (open.length === 0) return;
  const runs = await Run.findByKeys(
    'id',
    open.map(({ runId }) => runId),
  );
  const questions = await findQuestions(runs);
  for (const run of runs) {
    const { id: runId, status } = run;
    const inputRequired = awaitsApproval(run) || questions.has(runId);
    await transaction(async (trx) => {
      for (const { id } of await sql<{ id: string }>(tellSql, [runId, status, inputRequired], trx)) {
        await enqueue(trx, 'a2a push', { runId, id, status, inputRequired } satisfies Notification);
      }
    });
  }
}

interface Notification {
  runId: string;
  id: string;
  status: RunStatus;
  /** Whether the run waits for a person to act; absent in notifications that an earlier release queued. */
  inputRequired?: boolean;
}

/**
 * Sends the status of a task to one URL. Does nothing when the configuration was deleted or its creator has left the organization.
 * @throws when the receiver does not answer with 2xx; the background job is then retried
 */
export async function deliverPush({ runId, id, status, inputRequired = false }: Notification): Promise<void> {
  const [stored] = await sql<Stored>(`select ${columns} from a2a_push_configs where run_id = $1 and id = $2`, [
    runId,
    id,
  ]);
  const run = stored && (await Run.find({ id: runId }));
  if (!run || !(await Membership.find({ orgId: run.orgId, userId: stored.userId }))) return;
  const { url, token, authentication } = configOf(stored);
  const {
    id: taskId,
    contextId,
    status: current,
    metadata,
  } = taskOf(
    { ...run, status, awaitsApproval: inputRequired && isWaiting({ status }) },
    {
      message: (await messagesOfRuns([runId])).get(runId),
      question: inputRequired ? ((await findQuestions([run])).get(runId) ?? { text: '' }) : undefined,
    },
  );
  const event = { taskId, contextId, status: current, metadata };
  const text = JSON.stringify(StreamResponse.toJSON({ payload: { $case: 'statusUpdate', value: event } }));
  const answered = await sendRequest(url, {
    method: 'POST',
    text,
    maxBytes,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      'content-type': 'application/a2a+json',
      'a2a-version': '1.0',
      'x-a2a-notification-signature': await signatureOf(url, runId, text),
      ...(token && { 'x-a2a-notification-token': token }),
      ...(authentication && { authorization: `${authentication.scheme} ${authentication.credentials}` }),
    },
  });
  if (answered.status < 200 || answered.status > 299) throw new Error(`the receiver answered ${answered.status}`);
}

/** A JWT that receivers verify with the published keys; it names the URL, the task and the digest of the body. */
function signatureOf(url: string, runId: string, body: string): Promise<string> {
  const iat = Math.floor(now() / seconds(1));
  const claims = {
    iss: addresses().issuer,
    aud: url,
    sub: runId,
    jti: newId('request'),
    iat,
    exp: iat + signatureSeconds,
    request_body_sha256: createHash('sha256').update(body).digest('base64url'),
  };
  return signJwt(claims, { typ: 'a2a-push+jwt' });
}
