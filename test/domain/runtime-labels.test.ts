// Labels: a sandbox template can require labels, and only runtimes with these labels claim its missions. A waiting mission shows which
// labels no runtime has.
import { afterAll, beforeEach, expect, it } from 'vitest';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { type Json, openStepWorld, words } from '../support/mission-steps.ts';
import { knownRuntime } from '../support/world.ts';

const { world, alice, projectId, graphql, claim, finish, start, run, runtime, reset, close } = await openStepWorld();
afterAll(close);
beforeEach(async () => {
  await reset();
  await world.knex('runtime_harnesses').where({ runtime: knownRuntime }).update({ labels: [] });
  await rest('PATCH', `/projects/${projectId}`, { defaultSandboxTemplateId: null });
});

const rest = async (method: string, path: string, body: object): Promise<Json> =>
  (await world.rest(method, path, { token: alice.token, body })).body;
let made = 0;
const template = async (labels: string[]): Promise<string> =>
  (await rest('POST', '/sandbox-templates', { name: `Template ${++made}`, labels })).id;
const useTemplate = async (labels: string[]): Promise<string> => {
  const id = await template(labels);
  await rest('PATCH', `/projects/${projectId}`, { defaultSandboxTemplateId: id });
  return id;
};
const agent = (role: string, templateId: string): Promise<Json> =>
  rest('POST', '/agents', {
    ...{ name: `${role} ${++made}`, role, harness: 'claude-code', model: 'claude-sonnet-4-5' },
    sandbox: { kind: 'existing', templateId },
  });
const reason = async (runId: string): Promise<string> => {
  await explainWaits();
  return (await run(runId)).reason;
};

it('a mission is claimed only by a runtime that has all labels of its template', async () => {
  await useTemplate(['gpu', 'arm64']);
  const { id } = await start();
  expect(await claim()).toBeNull();
  expect(await reason(id)).toBe('No connected runtime has the labels gpu, arm64.');
  expect(await claim({ runtime: 'One', labels: ['gpu'] })).toBeNull();
  expect(await reason(id)).toBe('No connected runtime has the label arm64.');
  expect(await claim({ runtime: 'Two', labels: ['arm64', 'linux'] })).toBeNull();
  expect(await reason(id)).toBe('No connected runtime has the labels gpu, arm64.');
  expect(await claim({ runtime: 'Three', labels: ['arm64', 'gpu', 'linux'], harnesses: ['shell'] })).toBeNull();
  expect(await reason(id)).toMatch(
    /^No runtime with the harness .*claude-code.* and the labels gpu, arm64 is connected\.$/,
  );
  const held = await claim({ runtime: 'Four', labels: ['arm64', 'gpu', 'linux'] });
  expect(held).toMatchObject({ runId: id });
  const { data } = await graphql('{ runtimes { data { name labels } } }', {});
  const labels = Object.fromEntries(data.map((one: Json) => [one.name, one.labels]));
  expect(labels).toMatchObject({ Runtime: [], One: ['gpu'], Four: ['arm64', 'gpu', 'linux'] });
});

it('a step that needs other labels goes to another runtime, and a change of the template applies at once', async () => {
  const gpu = await template(['gpu']);
  await agent('planner', 'standard');
  await agent('builder', gpu);
  const { id } = await start();
  const held = await claim();
  expect(held.step.role).toBe('planner');
  const plan = { output: JSON.stringify({ steps: ['Fix the date.'] }) };
  expect(await finish(held, held.step.stepId, plan)).toMatchObject({ outcome: 'handed_back', step: null });
  expect(await claim()).toBeNull();
  expect(await reason(id)).toBe('No connected runtime has the label gpu.');
  await rest('PATCH', `/sandbox-templates/${gpu}`, { labels: ['large'] });
  expect(await claim({ labels: ['gpu'] })).toBeNull();
  expect(await reason(id)).toBe('No connected runtime has the label large.');
  expect(await claim({ labels: ['large'] })).toMatchObject({ runId: id, step: { role: 'builder', seq: 1 } });
});

it('a mission waits for another runtime if its agent needs a label that the claiming runtime does not have', async () => {
  await agent('builder', await template(['gpu']));
  const { id } = await start();
  expect(await claim()).toBeNull();
  expect((await run(id)).reason).toBe('The next step needs a runtime with the label gpu.');
  expect(await claim()).toBeNull();
  expect(await claim({ labels: ['gpu'] })).toMatchObject({ runId: id, step: { role: 'builder' } });
});

it('400 · a label that is invalid, repeated or one too many is named in the error', async () => {
  const refused = async (labels: string[]) =>
    (await rest('POST', '/sandbox-templates', { name: 'Refused', labels })).description;
  expect(await refused(['gpu', 'Big'])).toMatch(/^labels\.1: must be lowercase letters, digits/);
  expect(await refused(['gpu', 'gpu'])).toBe('labels.1: gpu is listed twice.');
  expect(await refused(['x'.repeat(64)])).toMatch(/^labels\.0: .*63/);
  expect(await refused(Array.from({ length: 21 }, (_, n) => `l${n}`))).toMatch(/^labels: .*20/);
  const claimed = await runtime.ask('claimRun', { runtime: 'R', harnesses: ['shell'], labels: ['a b'] }, '{ runId }');
  expect(words(claimed)).toEqual(['invalid_request', expect.stringMatching(/^labels\.0: must be lowercase/)]);
});
