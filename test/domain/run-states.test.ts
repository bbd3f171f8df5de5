// The states of a run: the SQL condition of each state finds only the runs in that state, and a run moves to another state only if its
// current state allows this move.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { Run } from '#domain/work/runs/model.ts';
import {
  isInState,
  moveRuns,
  type RunState,
  runMoves,
  runStates,
  statesBefore,
  statusOfState,
} from '#domain/work/runs/states.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await createOwner(world, 'Alice', 'Acme');
  projectId = await createProject(world, owner, 'Shop');
});
afterAll(() => world.close());

/** One run in each state, with the state's name as its id. */
beforeEach(async () => {
  await world.knex('runs').delete();
  await world.knex('runs').insert(
    runStates.map((state) => ({
      id: state,
      orgId: owner.organization.id,
      projectId,
      scheduledFor: 0,
      kind: 'manual',
      status: statusOfState(state),
      issueId: state === 'waitingForIssue' || state === 'skipped' ? null : `issue of ${state}`,
      leaseId: state === 'running' ? 'lse_1' : null,
      leaseUntil: state === 'running' || state === 'waitingForIssue' ? 1 : null,
      createdAt: 0,
      updatedAt: 0,
    })),
  );
});

const idsIn = async (states: readonly RunState[]): Promise<string[]> =>
  (await transaction(async (trx) => Run.query(trx).select('id').whereRaw(isInState(states))))
    .map(({ id }) => id)
    .sort();

describe('SQL conditions of run states', () => {
  test.each(runStates.map((state) => [[state]] as const))(
    'the condition of the state %s finds only the runs in that state',
    async (states) => {
      expect(await idsIn(states)).toEqual(states);
    },
  );

  it('a condition of several states finds the runs in any of them', async () => {
    for (const states of [
      ['waitingForIssue', 'waitingForRuntime'],
      ['running', 'waitingForRuntime'],
      ['running', 'waitingForIssue', 'waitingForRuntime'],
      ['canceled', 'running', 'waitingForRuntime'],
    ] as const) {
      expect(await idsIn(states)).toEqual(states);
    }
  });
});

describe('changes of a run’s status', () => {
  test.each(runStates.filter((state) => statesBefore(state).length > 0))(
    'only runs in the allowed states move to %s',
    async (next) => {
      const ids = await moveEach(next);
      expect(ids.sort()).toEqual([...statesBefore(next)].sort());
    },
  );

  it('a run never leaves a final state', () => {
    const final = runStates.filter((state) => runMoves[state].length === 0);
    expect(final).toEqual(['completed', 'failed', 'skipped', 'canceled']);
  });
});

/** Changes each run in its own transaction with its own lease, because two running runs cannot share a lease. */
async function moveEach(next: RunState): Promise<string[]> {
  const moved: string[] = [];
  for (const id of runStates) {
    const lease = { leaseId: `lse_${id}` as never, leaseUntil: 2 };
    const [run] = await transaction((trx) => moveRuns(trx, next, { id } as object, lease));
    if (run) moved.push(run.id);
  }
  return moved;
}

const folder = path.join(import.meta.dirname, '../../src/domain');

/** Files of the domain whose text matches the condition, without states.ts. */
const filesWhere = (isSo: (text: string) => boolean): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== path.join('work', 'runs', 'states.ts'))
    .filter((name) => isSo(readFileSync(path.join(folder, name), 'utf8')));

it('only states.ts, and the creation of a run, write the status of a run', () => {
  const writers = filesWhere(
    (text) =>
      /update\s+runs\b[^`]*?\bset\b(?:(?!\bwhere\b|\bfrom\b)[^`])*\bstatus\s*=/.test(text) ||
      /\bRun\.query\([^;]*\.(?:patch|update|insert)\(\{[^;]*\bstatus\b/.test(text) ||
      /\binsert into runs\b|trx\(Run\.tableName\)/.test(text),
  );
  expect(writers).toEqual([path.join('work', 'runs', 'create.ts')]);
});

it('only the list of statuses and states.ts mention the status `dispatching`', () => {
  expect(filesWhere((text) => text.includes("'dispatching'"))).toEqual([path.join('work', 'runs', 'model.ts')]);
});
