// A run whose details were deleted, on every surface. The sample organization has one record of each type, and every record of a run
// belongs to this run. All fields that read or change these records must still work.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { exportTables } from '#domain/lifecycle/closure/export-tables.ts';
import { packOrganization } from '#domain/lifecycle/organization-files/pack.ts';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { signRun } from '#domain/lifecycle/statements/sign.ts';
import { readTask } from '#domain/work/a2a/tasks.ts';
import { days } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { type Keys, verifyAttestation } from '../../clients/cli/src/attestation.ts';
import { keepRows } from '../support/database-rows.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { askField, type Request, type RootField, rootFields, surfacesOf } from '../support/root-fields.ts';
import {
  argumentsOf,
  changesSample,
  type SampleOrganization,
  seedOrganization,
} from '../support/sample-organization.ts';
import { type Ask, openWorld, present, type Session, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let acme: SampleOrganization;
let runId: string;
let attested: Json;
let restore: () => Promise<void>;

const sessionOf = (): Promise<Session> => world.session(acme.owner, acme.organization.id);
const get = async (at: string): Promise<Json> => (await world.rest('GET', at, { session: await sessionOf() })).body;

beforeAll(async () => {
  world = await openWorld();
  acme = await seedOrganization(world);
  runId = acme.ids.runId!;
  await world.knex('outside_effects').where({ runId }).update({ state: 'committed' });
  await world.knex('terminals').where({ runId }).update({ endedAt: present(), reason: 'The person has closed it.' });
  await world.knex('sandboxes').where({ runId }).update({ status: 'completed' });
  const ended = { status: 'completed', finishedAt: present(), leaseUntil: null };
  await world.knex('runs').where({ id: runId }).update(ended);
  await signRun({ runId });
  attested = await evidence();
  await world.knex('retention_settings').insert({ orgId: acme.organization.id, runDays: 14 });
  world.clock.turn(days(14) + 1);
  await deleteAfterRetention();
  restore = await keepRows(world.knex);
});
afterAll(() => world.close());

/** Reads the attestation of the run's commit, and the calls of the run. The attestation contains the number of these calls and a hash of them. */
const evidence = async (): Promise<Json> => ({
  rows: await world.knex('attestations').where({ runId }),
  calls: (await get(`/runs/${runId}/calls`)).data,
});

it('a run whose details were deleted says when they were deleted, and has empty lists', async () => {
  const query = `{ run(runId: "${runId}") {
    status missionTitle missionCostUsd detailsDeletedAt
    kept { retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens }
    steps { id } messages { id } sandboxes { sandboxId } artifacts { id } questions { seq } outsideEffects { id } mcpCalls { id }
    changeVersions { headSha } hostThreads { key } changeDiff { id } continuesStep { id }
    reviews { verdict body comments { id } } attemptGroup { attempts { review isTestPassed changedPaths } } attestations { sha }
  } }`;
  const run = await world.field(query, { session: await sessionOf() });
  expect(run).toMatchObject({
    ...{ status: 'completed', detailsDeletedAt: present(), steps: [], messages: [], sandboxes: [], questions: [] },
    ...{ kept: { retentionDays: 14, steps: 1, messages: 0 }, outsideEffects: [], mcpCalls: [], changeVersions: [] },
    ...{ hostThreads: [], changeDiff: null, reviews: [{ verdict: 'comment', body: '', comments: [] }] },
  });
  expect(run.attestations).toHaveLength(1);
});

const ofRun = (root: RootField): boolean => JSON.stringify(argumentsOf(root, acme)).includes(runId);
async function asOwner({ exposure: { scope } }: RootField): Promise<Ask> {
  return scope === 'runtime:report' ? { token: acme.serviceToken } : { session: await sessionOf() };
}
const checked: Request = (method, at, ask) =>
  at.startsWith('/v1/') ? world.rest(method, at.slice(3), ask) : world.request(method, at, ask);

it('fields that read a run, its details or its lists still answer after the details were deleted', async () => {
  const lists = ['runs', 'sandboxes', 'artifacts', 'issues', 'inbox', 'notices', 'qualityFigures', 'attestation'];
  const details = ['runId', 'sandboxId', 'artifactId', 'attemptGroupId', 'projectId'].map((name) => acme.ids[name]!);
  const reads = rootFields.filter((root) => {
    if (root.kind === 'Mutation' || changesSample(root)) return false;
    const args = JSON.stringify(argumentsOf(root, acme));
    return lists.includes(root.name) || details.some((id) => args.includes(id));
  });
  expect(reads.length).toBeGreaterThan(20);
  const found: string[] = [];
  for (const root of reads) {
    for (const surface of surfacesOf(root)) {
      const { status } = await askField(checked, surface, root, argumentsOf(root, acme), await asOwner(root));
      if (![200, 400, 404, 409].includes(status)) found.push(`${root.name}, ${surface}: ${status}`);
    }
  }
  expect(found).toEqual([]);
});

it('no mutation fails on a run whose details were deleted: each is executed or refused', async () => {
  const found: Record<string, number> = {};
  for (const root of rootFields.filter((one) => one.kind === 'Mutation' && ofRun(one))) {
    for (const surface of surfacesOf(root)) {
      const { status } = await askField(checked, surface, root, argumentsOf(root, acme), await asOwner(root));
      found[root.name] = status;
      await restore();
    }
  }
  expect(Object.entries(found).filter(([, status]) => status >= 500)).toEqual([]);
  expect(found).toMatchObject({
    continueRun: 409,
    forkMission: 409,
    createRunShare: 409,
    submitReview: 409,
    rerunMission: 201,
  });
});

it('the attestation of a run whose details were deleted is not signed again, and can still be verified together with the entries of all its calls', async () => {
  await signRun({ runId });
  expect(await evidence()).toEqual(attested);
  const { keys } = (await world.request('GET', '/.well-known/audit-keys.json')).body;
  const known: Keys = new Map(keys.map(({ id, publicKey }: Json) => [id, Buffer.from(publicKey, 'base64')]));
  const [{ sha, treeSha, envelope }] = attested.rows;
  const entries = attested.calls.map(({ entry }: Json) => entry);
  expect(entries.length).toBeGreaterThan(0);
  expect(verifyAttestation(JSON.stringify(envelope), known, { sha, tree: treeSha }, entries)).toMatchObject({
    findings: [],
  });
});

it('MCP tools and A2A tasks show a run whose details were deleted, without its steps and messages', async () => {
  const { call, client } = await connectMcp(world, await world.token(acme.owner, acme.organization));
  const data = async (name: string) => ((await call(name, { runId })) as Json).structuredContent;
  expect(await data('get_run')).toMatchObject({ id: runId, status: 'completed' });
  expect(await data('list_run_steps')).toEqual({ data: [] });
  expect(await data('list_run_messages')).toEqual({ data: [] });
  await client.close();
  const caller: Caller = {
    ...{
      principalType: 'user',
      credentialId: 'test',
      userId: acme.owner.id,
      orgId: acme.organization.id,
      role: 'owner',
    },
    ...{ scopes: scopesOfRole('owner'), projectId: null },
  };
  expect(await readTask(caller, runId, { artifacts: true })).toMatchObject({ id: runId, artifacts: [] });
});

it('an organization’s export and its file contain runs whose details were deleted', async () => {
  const orgId = acme.organization.id;
  const rows: Record<string, Json[]> = {};
  for (const { name, query } of exportTables)
    rows[name] = (await world.knex.raw(query, [orgId])).rows.map(({ row }: Json) => JSON.parse(row));
  expect(rows.runs!.find(({ id }) => id === runId)).toMatchObject({ kept: { steps: 1 } });
  expect(rows.run_steps!.filter((step) => step.runId === runId)).toEqual([]);
  const calls = rows.run_calls!.filter((call) => call.runId === runId);
  await transaction(async (trx) => {
    for await (const call of exportTables.find(({ name }) => name === 'run_calls')!.more!(trx, orgId))
      calls.push(JSON.parse(call));
  });
  expect(calls.map(({ entry }) => entry)).toEqual(attested.calls.map(({ entry }: Json) => entry));
  let bytes = 0;
  await world.knex('stored_contents').update({ sizeBytes: null });
  await packOrganization(orgId, Buffer.alloc(32, 5).toString('base64'), async (chunk) => {
    bytes += chunk.length;
  });
  expect(bytes).toBeGreaterThan(10_000);
});
