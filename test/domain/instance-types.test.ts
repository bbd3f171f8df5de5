// A mission gets the instance type that its start request names. If the request names no instance type, the mission gets the one of its
// sandbox template. Only a runtime with enough room claims the mission.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { knownRuntime, openWorld, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let owner: Account;
let runtime: Runtime;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await createOwner(world, 'Alice', 'Acme');
  projectId = await createProject(world, owner, 'Shop');
  runtime = await createRuntime(world, owner.organization);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.knex('runs').delete();
  await world.knex('projects').update({ defaultSandboxTemplateId: null });
  await world.knex('runtime_harnesses').whereNot({ runtime: knownRuntime }).delete();
});

const graphql = (query: string, variables: Record<string, unknown>): Promise<Json> =>
  world.field(query, { token: owner.token, variables });
const start = (more: object = {}): Promise<Json> =>
  graphql(
    `mutation ($projectId: String!, $prompt: String!, $instanceType: InstanceType) {
      startMission(projectId: $projectId, prompt: $prompt, agentId: "agn_builtin_shell", instanceType: $instanceType) { id instanceType } }`,
    { projectId, prompt: 'true', ...more },
  );
const claim = (room: object = {}): Promise<Json> =>
  runtime.claim(
    { harnesses: ['shell'], ...room },
    '{ runId leaseId instanceType memoryMb step { environment { instanceType cpus memoryMb diskMb } } }',
  );
const runOf = (id: string): Promise<Json> =>
  graphql('query ($id: String!) { run(runId: $id) { instanceType reason } }', { id });
async function useTemplate(settings: object): Promise<void> {
  const body = { name: `Template ${Math.random()}`, ...settings };
  const { id } = (await world.rest('POST', '/sandbox-templates', { token: owner.token, body })).body;
  await world.rest('PATCH', `/projects/${projectId}`, { token: owner.token, body: { defaultSandboxTemplateId: id } });
}
const roomy = { cpus: 8, memoryMb: 32_768, diskMb: 65_536 };

it('a mission without a chosen instance type gets the memory of standard-1, and no limit on CPUs and disk', async () => {
  await start();
  const size = { instanceType: 'standard-1', memoryMb: 4_096 };
  expect(await claim()).toMatchObject({ ...size, step: { environment: { ...size, cpus: null, diskMb: null } } });
});

it('the instance type chosen at the start of a mission replaces that of its sandbox template', async () => {
  await useTemplate({ instanceType: 'standard-4' });
  expect(await start({ instanceType: 'basic' })).toMatchObject({ instanceType: 'basic' });
  const size = { instanceType: 'basic', memoryMb: 1_024 };
  expect(await claim(roomy)).toMatchObject({ ...size, step: { environment: { ...size, cpus: 0.25, diskMb: 4_096 } } });
});

it('a mission gets the instance type of its sandbox template; limits set in the template replace those of the type', async () => {
  await useTemplate({ instanceType: 'standard-2', memoryMb: 512 });
  const { id } = await start();
  const environment = { instanceType: 'standard-2', cpus: 1, memoryMb: 512, diskMb: 12_288 };
  expect(await claim(roomy)).toMatchObject({ instanceType: 'standard-2', step: { environment } });
  expect((await runOf(id)).instanceType).toBe('standard-2');
});

it('a mission is claimed only by a runtime with room for its instance type, and shows why it waits', async () => {
  const { id } = await start({ instanceType: 'standard-4' });
  for (const little of [{ cpus: 2 }, { memoryMb: 8_192 }, { diskMb: 10_240 }])
    expect(await claim({ ...roomy, ...little })).toBeNull();
  await world.knex('runtime_harnesses').where({ runtime: knownRuntime }).delete();
  await explainWaits();
  expect((await runOf(id)).reason).toBe(
    'No connected runtime has room for the instance type standard-4: 4 CPUs, 12288 MiB of memory and 20 GiB of disk.',
  );
  expect(await claim(roomy)).toMatchObject({ runId: id });
});

it('a mission is claimed by another runtime if its template needs more than the first runtime has', async () => {
  await useTemplate({ instanceType: 'standard-4' });
  const { id } = await start();
  expect(await claim({ ...roomy, cpus: 2 })).toBeNull();
  expect(await runOf(id)).toMatchObject({ instanceType: 'standard-4', reason: expect.stringContaining('standard-4') });
  expect(await claim(roomy)).toMatchObject({ runId: id, instanceType: 'standard-4' });
});

it('400 · a mission or a sandbox template with an unknown instance type is refused, and the error names the field', async () => {
  expect(await start({ instanceType: 'huge' })).toMatchObject({
    code: 'invalid_request',
    description: expect.stringContaining('instanceType'),
  });
  const body = { name: 'Huge', instanceType: 'huge' };
  const { status, body: problem } = await world.rest('POST', '/sandbox-templates', { token: owner.token, body });
  expect([status, problem.description]).toEqual([400, expect.stringContaining('instanceType')]);
});
