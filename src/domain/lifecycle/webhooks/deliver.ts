// Sends due deliveries. At most one worker among all processes holds the lease on an endpoint and sends its deliveries, so endpoints do not
// wait for each other. A process has a bounded number of workers. One organization can use only a part of them, and so can all failing
// endpoints together (docs/decisions/0071-webhooks-have-a-queue-per-endpoint.md).
import { hours, now, seconds } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { attempt, type WebhookAttempt } from './attempt.ts';
import { leaseMs, maxFailingMs, retryDelaysMs } from './bounds.ts';
import { messageIdOf, WebhookDelivery, type WebhookEndpoint } from './model.ts';
import { type SealedSecrets, signedHeaders, unsealSecrets } from './secrets.ts';

/** Maximum number of concurrent workers of a process: in total, for one organization, and for endpoints whose latest attempt failed. */
const places = { all: 100, organization: 10, failing: 25 } as const;
/** Maximum number of events that are sent to an endpoint concurrently, unless their order must be kept. */
const concurrency = 5;
/** Maximum time for which a worker serves one endpoint, because other endpoints wait for a worker. */
const turnMs = seconds(20);
/** Pause after a failed attempt, during which an endpoint gets no requests: the default, and the maximum that `Retry-After` can request. */
const restMs = { failed: seconds(5), max: hours(24) } as const;
/** The fraction by which delays vary randomly, so that events that failed together are not retried together. */
const jitter = 0.1;

interface Claim {
  id: WebhookEndpoint['id'];
  orgId: WebhookEndpoint['orgId'];
  isFailing: boolean;
}

const running = new Map<string, Claim & { work: Promise<void> }>();
let failure: unknown;
let isStopping = false;

/** For an endpoint with ordered delivery, only its first pending event can be due. */
const dueAtSql = `case when e.ordered
    then (select due_at from webhook_deliveries where endpoint_id = e.id and due_at is not null order by number, id limit 1)
    else (select min(due_at) from webhook_deliveries where endpoint_id = e.id and due_at is not null) end`;
const claimSql = `with due as (
    select e.id, e.claimed_until, e.failing_since is not null as is_failing, e.org_id,
      row_number() over (partition by e.org_id order by e.claimed_until, e.id)
        + (select count(*) from unnest($5::text[]) busy where busy = e.org_id) as nth
    from webhook_endpoints e where e.disabled_at is null and e.claimed_until <= $1 and ${dueAtSql} <= $1),
  fair as (select id, claimed_until, is_failing, row_number() over (partition by is_failing order by claimed_until, id) as nth_of_kind
    from due where nth <= ${places.organization})
  update webhook_endpoints set claimed_until = $2 where id in (
    select id from webhook_endpoints where claimed_until <= $1 and disabled_at is null and id in (
      select id from fair where not is_failing or nth_of_kind <= $4 order by claimed_until, id limit $3)
    for update skip locked)
  returning id, org_id, failing_since is not null as is_failing`;

/**
 * Starts a worker for each endpoint with due deliveries; called periodically. The workers end by themselves.
 * @throws the error of a worker; another worker continues once its lease has expired
 */
export async function deliverWebhooks(): Promise<void> {
  const until = now() + leaseMs;
  const busy = [...running.values()];
  const room = places.all - busy.length;
  const roomOfFailing = Math.max(0, places.failing - busy.filter(({ isFailing }) => isFailing).length);
  const organizations = busy.map(({ orgId }) => orgId);
  for (const claim of await sql<Claim>(claimSql, [now(), until, room, roomOfFailing, organizations])) {
    const work = sendDue(claim.id, until)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => running.delete(claim.id));
    running.set(claim.id, { ...claim, work });
  }
  const error = failure;
  failure = undefined;
  if (error) throw error;
}

/** Resolves when the workers of this process have ended. */
export const webhooksSettled = async (): Promise<void> =>
  void (await Promise.all([...running.values()].map(({ work }) => work)));

/** Resolves when all attempts that have begun are recorded; no further attempts begin. */
export async function stopWebhooks(): Promise<void> {
  isStopping = true;
  await webhooksSettled();
  isStopping = false;
}

type Held = Pick<WebhookEndpoint, 'id' | 'url' | 'ordered' | 'failingSince'> & SealedSecrets;

const renewSql = `update webhook_endpoints set claimed_until = $3 where id = $1 and claimed_until = $2 and disabled_at is null
  returning id, url, ordered, failing_since, sealed_secret, sealed_previous_secret, previous_secret_until`;
const releaseSql = 'update webhook_endpoints set claimed_until = $3 where id = $1 and claimed_until = $2';

async function sendDue(endpointId: WebhookEndpoint['id'], claimedUntil: number): Promise<void> {
  const end = now() + turnMs;
  for (let held = claimedUntil; ; ) {
    const until = Math.max(held + 1, now() + leaseMs);
    const [endpoint] = await sql<Held>(renewSql, [endpointId, held, until]);
    if (!endpoint) return;
    held = until;
    const due = now() < end && !isStopping ? await findDue(endpoint) : [];
    const attempts = await Promise.all(due.map((delivery) => send(endpoint, delivery)));
    await recordState(endpoint, attempts);
    const failed = attempts.filter(({ isDelivered }) => !isDelivered);
    if (due.length > 0 && failed.length === 0) continue;
    const restAfter = Math.max(...failed.map(({ retryAfterMs = 0 }) => Math.max(restMs.failed, retryAfterMs)), 0);
    return void (await sql(releaseSql, [endpointId, held, now() + Math.min(restAfter, restMs.max)]));
  }
}

const columns = columnsOf(WebhookDelivery);
const dueSql = `select ${columns} from webhook_deliveries where endpoint_id = $1 and due_at <= $2
  order by due_at, number limit ${concurrency}`;
const dueInOrderSql = `select ${columns} from (select ${columns} from webhook_deliveries where endpoint_id = $1 and due_at is not null
  order by number, id limit 1) first where due_at <= $2`;

const findDue = ({ id, ordered }: Held): Promise<WebhookDelivery[]> =>
  sql<WebhookDelivery>(ordered ? dueInOrderSql : dueSql, [id, now()]);

const heldSql = `select id, url, ordered, failing_since, sealed_secret, sealed_previous_secret, previous_secret_until
  from webhook_endpoints where id = $1`;

/** Sends a delivery at once and only once, without claiming the endpoint. A failure is final and does not change the endpoint's state. */
export async function sendOnce(delivery: WebhookDelivery): Promise<void> {
  const [endpoint] = await sql<Held>(heldSql, [delivery.endpointId]);
  if (endpoint && delivery.attempts === 0) await send(endpoint, delivery, []);
}

async function send(endpoint: Held, delivery: WebhookDelivery, delays = retryDelaysMs): Promise<WebhookAttempt> {
  const { body } = delivery;
  const at = now();
  const headers = signedHeaders(unsealSecrets(endpoint, at), messageIdOf(delivery), at, body);
  const began = performance.now();
  const outcome = await attempt(endpoint.url, headers, body, at);
  await record(delivery, outcome, { durationMs: Math.round(performance.now() - began), delays });
  return outcome;
}

/** Records the response and the time of the next attempt, unless another worker has taken over because this one was too late. */
async function record(
  delivery: WebhookDelivery,
  outcome: WebhookAttempt,
  { durationMs, delays }: { durationMs: number; delays: readonly number[] },
): Promise<void> {
  const { isDelivered, retryAfterMs = 0, ...answer } = outcome;
  const at = now();
  const { id, attempts } = delivery;
  const delay = delays[attempts];
  const isOver = isDelivered || isGone(outcome) || delay === undefined;
  await WebhookDelivery.patch(
    undefined,
    { id, attempts },
    {
      ...{ ...answer, attempts: attempts + 1, attemptedAt: at, durationMs },
      status: isDelivered ? 'delivered' : isOver ? 'failed' : 'pending',
      dueAt: isOver ? null : at + Math.max(jittered(delay), Math.min(retryAfterMs, restMs.max)),
    },
  );
}

const isGone = ({ answerStatus }: WebhookAttempt): boolean => answerStatus === 410;
const jittered = (delay: number): number => Math.round(delay * (1 + jitter * Math.random()));

const stateSql = `update webhook_endpoints set failing_since = $3, disabled_at = $4, disabled_reason = $5
  where id = $1 and failing_since is not distinct from $2 and disabled_at is null`;

/**
 * Stores the time since which the endpoint has been failing. Disables the endpoint when it has been failing for too long or has answered
 * 410. Does nothing if a person has changed the endpoint after the delivery began.
 */
async function recordState({ id, failingSince }: Held, attempts: readonly WebhookAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const since = attempts.some(({ isDelivered }) => isDelivered) ? null : (failingSince ?? now());
  const isFailing = since !== null && now() - since >= maxFailingMs;
  const reason = attempts.some(isGone) ? 'gone' : isFailing ? 'failing' : null;
  if (since === failingSince && !reason) return;
  await sql(stateSql, [id, failingSince, since, reason && now(), reason]);
}
