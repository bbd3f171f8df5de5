// A project whose repository is at a stand-in for a source host, together with the service, an inbound hook and a runtime. A test calls
// each step of the runtime itself, from the claim of a run to its end.
import { continuePullRequests } from '#domain/execution/pull-requests/continue.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createCallers, createProject } from './callers.ts';
import { createRuntime } from './runtime-client.ts';
import { openWorld, type World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

/** Made-up ids of commits, which tests report as the commits of missions. */
export const commits = { first: 'a'.repeat(40), second: 'b'.repeat(40), third: 'c'.repeat(40) } as const;

/** A hook, and the requests of its sender. */
export async function createHook(world: World, token: string, vendor: string) {
  const { body } = await world.rest('POST', '/inbound-hooks', { token, body: { name: 'Events', vendor } });
  const { id, address } = body.hook;
  const pathOf = (deliveryId: string) => `/inbound-hooks/${id}/deliveries/${deliveryId}`;
  const send = (payload: string, headers: Record<string, string>): Promise<Response> =>
    fetch(address, { method: 'POST', body: payload, headers });
  const deliveryOf = async (deliveryId: string): Promise<Json> =>
    (await world.rest('GET', pathOf(deliveryId), { token })).body;
  return {
    id: id as string,
    secret: body.secret as string,
    pathOf,
    deliveryOf,
    send,
    /** Sends an event that is processed at once, and returns its delivery. */
    async deliver(payload: string, headers: Record<string, string>): Promise<Json> {
      const { deliveryId } = (await (await send(payload, headers)).json()) as { deliveryId: string };
      await world.delivered();
      return deliveryOf(deliveryId);
    },
  };
}

interface Settings {
  vendor: 'github' | 'gitlab';
  host: { address: string; close(): Promise<void> };
  credentials: string;
  project?: { repoFullName: string };
  /** Tracker of the project; if absent, the tracker of the source host. */
  tracker?: 'builtin';
  /** The newest commits of the branches at the host. */
  heads(): Map<string, string>;
}

const selection =
  '{ runId leaseId branch baseBranch prompt step { stepId prompt resumeSessionId checkpoint { commitSha } } }';

export type HostWorld = Awaited<ReturnType<typeof openHostWorld>>;

export async function openHostWorld({ vendor, host, credentials, project, tracker, heads }: Settings) {
  openOutbound({ allowLoopback: true });
  const world = await openWorld({ vendors: { [vendor]: host.address } });
  const callers = await createCallers(world);
  const { organization, token } = callers.owner;
  await world.grant(organization, 1_000);
  await world.lift(organization);
  const connector = { orgId: organization.id, displayName: 'Host' };
  await connectIntegration({ ...connector, vendor, vendorKind: 'scm', credentials });
  const own = tracker ? { vendor: tracker } : { vendor, credentials };
  await connectIntegration({ ...connector, ...own, vendorKind: 'tracker' });
  const runtime = await createRuntime(world, organization);
  const projectId = await createProject(world, callers.owner, 'Shop', { ...project, tracker: tracker ?? vendor });
  const hook = await createHook(world, token, vendor);
  const claim = (): Promise<Json> => runtime.claim({}, selection);

  return {
    ...callers,
    world,
    runtime,
    projectId,
    hook,
    claim,
    runs: (): Promise<Json[]> => world.knex('runs').orderBy('createdAt'),
    automation: (eventTriggers: object[], more: object = {}): Promise<Json> =>
      world.field('mutation ($input: CreateScheduledTaskRequest!) { createAutomation(input: $input) { id } }', {
        token,
        variables: { input: { projectId, name: 'Work', prompt: 'Solve it.', triggers: [], eventTriggers, ...more } },
      }),
    async startMission(prompt = 'Mend the date test.'): Promise<Json> {
      const query =
        'mutation ($id: String!, $prompt: String!) { startMission(projectId: $id, prompt: $prompt) { id } }';
      await world.graphql(query, { token, variables: { id: projectId, prompt } });
      return claim();
    },
    /** Puts a commit on the run's branch at the host, and then reports the commit as the runtime does. */
    async push({ branch, runId, leaseId }: Json, headSha: string, more: object = {}): Promise<Json> {
      heads().set(branch, headSha);
      const report = { runId, leaseId, headSha, baseBranch: 'main', ...more };
      const answer = await runtime.report('reportBranch', report, '{ prNumber prUrl }');
      await world.delivered();
      return answer;
    },
    /** Ends the step and the run, which has a checkpoint and a session to continue from. */
    async finish({ runId, leaseId, step: { stepId } }: Json): Promise<void> {
      const held = { runId, leaseId };
      const { contentKey, uploadUrl } = await runtime.report('createArtifactUpload', held, '{ contentKey uploadUrl }');
      await fetch(uploadUrl, { method: 'PUT', body: 'bundle' });
      const session = { stepId, sessionId: 'session-1' };
      await runtime.report('reportCheckpoint', { ...held, ...session, contentKey, commitSha: commits.first });
      await runtime.report('finishStep', { ...held, ...session, status: 'completed' }, '{ outcome }');
      await runtime.finish(held);
      await world.delivered();
    },
    /** Lets time pass, by default until remarks are processed. */
    async pass(ms = minutes(1)): Promise<void> {
      world.clock.turn(ms);
      await continuePullRequests();
      await world.delivered();
    },
    async close(): Promise<void> {
      await Promise.all([world.close(), host.close()]);
      openOutbound({ allowLoopback: false });
    },
  };
}
