// An organization whose audit log has 520 entries and three checkpoints, which the service signed at 9, 10 and 11 o'clock.
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { hours } from '#foundation/clock.ts';
import { createOwner } from './callers.ts';
import { keepRows } from './database-rows.ts';
import { openWorld } from './world.ts';

/**
 * The number of entries in the log at each of its three checkpoints, which the service signs at 9, 10 and 11 o'clock. The last two numbers are
 * equal, because no entry is added between these checkpoints.
 */
export const sizes = [300, 520, 520] as const;

export type SignedLog = Awaited<ReturnType<typeof openSignedLog>>;

export async function openSignedLog() {
  const world = await openWorld();
  const { person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme');
  /** Records actions, which join the log when they are numbered. */
  const act = (count: number) =>
    world.knex.raw(
      `insert into audit_changes (org_id, source, after)
        select ?, 'host_thread_answers', jsonb_build_object('key', n, 'path', 'Ä-' || n) from generate_series(1, ?) n`,
      [acme.id, count],
    );
  await numberAllChanges();
  const { lastNumber } = await world.knex('audit_counters').where({ orgId: acme.id }).first();
  await act(sizes[0] - lastNumber);
  await signCheckpoints();
  const earlier = await keepRows(world.knex);
  world.clock.turn(hours(1));
  await act(sizes[1] - sizes[0]);
  await signCheckpoints();
  world.clock.turn(hours(1));
  await signCheckpoints();
  await signCheckpoints();
  const notesOf = async (): Promise<string[]> =>
    (await world.knex('audit_checkpoints').where({ orgId: acme.id }).orderBy('hour').select('note')).map(
      ({ note }) => note,
    );
  return {
    ...{ world, alice, acme, act, notesOf, notes: await notesOf() },
    /** Restores the database to its state at the first checkpoint. */
    restoreEarlier: earlier,
  };
}
