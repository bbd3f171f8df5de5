// Quality figures, computed from the runs, messages and pull requests of a period, by agent, version and project.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { differenceOf, isMoreThanChance } from '#domain/work/quality/chance.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { type Account, createCallers, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let stranger: Account;
let shop: string;
let blog: string;
let smithId: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, stranger } = await createCallers(world));
  [shop, blog] = [await createProject(world, owner, 'Shop'), await createProject(world, owner, 'Blog')];
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const body = { name: 'Smith', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  smithId = (await world.rest('POST', '/agents', { token: owner.token, body })).body.id;
  const smith = (version: number) => [{ agentId: smithId, name: 'Smith', role: 'builder', version }];
  const team = [{ agentId: 'agn_plan', name: 'Planner', role: 'planner', version: 1 }, ...smith(2)];
  // A merged mission that consists of two runs on one branch, with one message from a person.
  await run({ branch: 'a', team: smith(1), at: hours(9), cost: 1 });
  await run(
    {
      branch: 'a',
      team: smith(1),
      at: hours(5),
      cost: 2,
      prState: 'merged',
      prEndedAt: hours(3),
      prRevertedAt: hours(1),
    },
    2,
  );
  await run({ branch: 'b', team, at: hours(8), cost: 4, prState: 'closed', prEndedAt: hours(1) });
  await run({ team, at: hours(7), cost: 8, status: 'canceled', parkedBy: 'budget' });
  await run({
    projectId: blog,
    team: [{ agentId: null, name: 'Built in', role: 'builder' }],
    at: hours(6),
    cost: 16,
    status: 'failed',
  });
  // The figures leave out these three runs: an open run, a run that no runtime has begun, and a run that is too old.
  await run({ team, at: hours(1), status: 'dispatching' });
  await run({ team: null, at: hours(1), status: 'canceled' });
  await run({ team, at: days(40) });
});
afterAll(() => world.close());

interface Fact {
  projectId?: string;
  branch?: string;
  team: object | null;
  /** Age of the run. */
  at: number;
  cost?: number;
  status?: string;
  parkedBy?: string;
  prState?: string;
  /** Milliseconds since the end of the run. */
  prEndedAt?: number;
  /** Age of the revert. */
  prRevertedAt?: number;
}
let count = 0;
async function run({ at, cost = 0, team, prEndedAt, prRevertedAt, ...fact }: Fact, messages = 0): Promise<void> {
  const id = `run_quality_${++count}`;
  const createdAt = present() - at;
  const ended = fact.status === 'dispatching' ? { issueId: 'iss_1' } : { finishedAt: createdAt + minutes(30) };
  await world.knex('runs').insert({
    ...{
      id,
      orgId: owner.organization.id,
      projectId: shop,
      kind: 'manual',
      status: 'completed',
      scheduledFor: createdAt,
    },
    ...{ createdAt, updatedAt: createdAt, startedAt: createdAt + minutes(2), missionCostUsd: cost, prompt: 'Do it.' },
    ...{
      team: team && JSON.stringify(team),
      prEndedAt: prEndedAt === undefined ? null : present() - prEndedAt,
      prRevertedAt: prRevertedAt === undefined ? null : present() - prRevertedAt,
      ...ended,
      ...fact,
    },
  });
  for (let seq = 0; seq < messages; seq++)
    await world.knex('run_messages').insert({
      ...{
        id: `msg_quality_${++count}`,
        runId: id,
        orgId: owner.organization.id,
        projectId: shop,
        seq,
        kind: 'message',
      },
      ...{ text: 'Hm.', authorUserId: owner.person.id, author: 'Alice', createdAt },
    });
}

const figures = async (args: string, token = owner.token) =>
  (
    await world.field(
      `{ qualityFigures(${args}) { data { projectId agentId agentName agentVersion missions completed completedShare pullRequests
        merged mergedShare reverted revertedShare msToMerge msToStart runsPerMission messagesPerMission costUsd costPerMergedUsd endedAtLimit } } }`,
      { token },
    )
  ).data;

it('quality figures count all runs on one branch as one mission, which belongs to the agent that was its builder', async () => {
  const none = { projectId: null, agentVersion: null };
  expect(await figures('groupBy: agent')).toEqual([
    {
      ...{ ...none, agentId: smithId, agentName: 'Smith', missions: 3, completed: 2, completedShare: 2 / 3 },
      ...{
        pullRequests: 2,
        merged: 1,
        mergedShare: 0.5,
        reverted: 1,
        revertedShare: 1,
        msToMerge: hours(6),
        msToStart: minutes(2),
      },
      ...{ runsPerMission: 4 / 3, messagesPerMission: 2 / 3, costUsd: 15, costPerMergedUsd: 15, endedAtLimit: 1 },
    },
    {
      ...{ ...none, agentId: null, agentName: 'Built in', missions: 1, completed: 0, completedShare: 0 },
      ...{
        pullRequests: 0,
        merged: 0,
        mergedShare: null,
        reverted: 0,
        revertedShare: null,
        msToMerge: null,
        msToStart: minutes(2),
      },
      ...{ runsPerMission: 1, messagesPerMission: 0, costUsd: 16, costPerMergedUsd: null, endedAtLimit: 0 },
    },
  ]);
});

it('quality figures are grouped by version and project, filtered by project, agent and days, and exclude other organizations', async () => {
  const of = async (args: string, token?: string) =>
    (await figures(args, token)).map((one: Record<string, unknown>) => [one.projectId, one.agentVersion, one.missions]);
  expect(await of('groupBy: version')).toEqual([
    [null, 2, 2],
    [null, 1, 1],
    [null, null, 1],
  ]);
  expect(new Set(await of('groupBy: project'))).toEqual(
    new Set([
      [shop, null, 3],
      [blog, null, 1],
    ]),
  );
  expect(await of(`groupBy: all, projectId: "${blog}"`)).toEqual([[null, null, 1]]);
  expect(await of(`groupBy: all, agentId: "${smithId}", days: 60`)).toEqual([[null, null, 4]]);
  expect(await of('groupBy: all', stranger.token)).toEqual([]);
  expect((await world.rest('GET', '/quality-figures?groupBy=all', { token: owner.token })).body.data[0].missions).toBe(
    4,
  );
  const { weeks } = await world.field('{ qualityFigures { weeks { missions completed merged } } }', {
    token: owner.token,
  });
  expect(weeks.reduce((sum: number, week: { missions: number }) => sum + week.missions, 0)).toBe(4);
});

it('two versions of an agent are compared by their shares of missions that completed, merged or ended at a limit', async () => {
  const compared = await world.field(
    `{ compareAgentVersions(agentId: "${smithId}", first: 1, second: 2) { first { missions } second { missions }
      differences { share difference isMoreThanChance } } }`,
    { token: owner.token },
  );
  expect(compared).toEqual({
    first: { missions: 1 },
    second: { missions: 2 },
    differences: [
      { share: 'completed', difference: -0.5, isMoreThanChance: false },
      { share: 'merged', difference: -1, isMoreThanChance: false },
      { share: 'endedAtLimit', difference: 0.5, isMoreThanChance: false },
    ],
  });
});

it('two versions of an agent are compared even if many others have more missions', async () => {
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const body = { name: 'Often changed', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  const { id: agentId } = (await world.rest('POST', '/agents', { token: owner.token, body })).body;
  const mission = (version: number) =>
    run({ team: [{ agentId, name: 'Often changed', role: 'builder', version }], at: days(100) });
  for (let version = 1; version <= 102; version++) {
    await mission(version);
    if (version > 2) await mission(version);
  }
  const asked = `{ compareAgentVersions(agentId: "${agentId}", first: 1, second: 2, days: 200) { first { missions } second { missions } } }`;
  expect(await world.field(asked, { token: owner.token })).toEqual({
    first: { missions: 1 },
    second: { missions: 1 },
  });
});

describe('the difference between the success rates of two versions', () => {
  it('the difference of two success rates has the confidence interval of the published example', () => {
    // Newcombe 1998, table II, 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    const { low, high, difference } = differenceOf({ count: 48, of: 80 }, { count: 56, of: 70 })!;
    expect([difference, low, high].map((value) => value.toFixed(4))).toEqual(['0.2000', '0.0524', '0.3339']);
  });

  it('a difference of two success rates is significant once there are enough missions, and null without missions', () => {
    expect(isMoreThanChance(differenceOf({ count: 5, of: 10 }, { count: 8, of: 10 })!)).toBe(false);
    expect(isMoreThanChance(differenceOf({ count: 50, of: 100 }, { count: 80, of: 100 })!)).toBe(true);
    expect(differenceOf({ count: 0, of: 0 }, { count: 8, of: 10 })).toBeNull();
  });
});
