// The partitions of sandbox samples: created before their week begins, dropped after the retention period.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { keepMetricPartitions } from '#domain/work/sandboxes/metric-partitions.ts';
import { maxSamplesPerPoint, metricsOf } from '#domain/work/sandboxes/operations.ts';
import { days, seconds } from '#foundation/clock.ts';
import { metricRetentionMs } from '#limits.ts';
import { measure } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

const sandbox = { id: 'sbx_1' as const };
const week = days(7);
let world: World;

beforeAll(async () => {
  world = await openWorld();
});
beforeEach(async () => {
  for (const { name } of await partitions()) if (name !== rest) await world.knex.raw(`drop table ${name}`);
  await world.knex('sandboxMetrics').delete();
});
afterAll(() => world.close());

const rest = 'sandbox_metrics_default';

/** Every partition with the number of its samples. */
async function partitions(): Promise<{ name: string; samples: number }[]> {
  const { rows } = await world.knex.raw(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'sandbox_metrics'::regclass order by 1",
  );
  return Promise.all(
    rows.map(async ({ name }: { name: string }) => ({
      name,
      samples: Number((await world.knex.raw(`select count(*) from ${name}`)).rows[0].count),
    })),
  );
}

/** The partition's name: the first day of the week. */
const nameOf = (at: number) =>
  `sandbox_metrics_${new Date(at - (at % week)).toISOString().slice(0, 10).replaceAll('-', '')}`;

it('weekly partitions of metrics are created for this week and the next two, and take over existing samples', async () => {
  await measure(sandbox, present() - seconds(20), seconds(10), [1, 2, 3]);
  await measure(sandbox, present() + week, seconds(10), [4]);
  await measure(sandbox, present() - 2 * week, seconds(10), [5]);
  const before = await metricsOf([sandbox.id], 1_000);
  await keepMetricPartitions();
  const made = await partitions();
  expect(made).toEqual([
    { name: nameOf(present()), samples: 3 },
    { name: nameOf(present() + week), samples: 1 },
    { name: nameOf(present() + 2 * week), samples: 0 },
    { name: rest, samples: 1 },
  ]);
  await keepMetricPartitions();
  expect(await partitions()).toEqual(made);
  expect(await metricsOf([sandbox.id], 1_000)).toEqual(before);
});

it('a point of a metrics curve is the mean of its samples; if it has more samples than the maximum, only the latest samples count', async () => {
  const samples = Array.from({ length: 1_000 }, (_, n) => n);
  await measure(sandbox, present(), seconds(10), samples);
  const points = await metricsOf([sandbox.id, 'sbx_unknown'], 5);
  expect(points.map(({ t, cpuPct }) => ({ t, cpuPct }))).toEqual(
    [199, 399, 599, 799, 999].map((last) => ({
      t: present() + last * seconds(10),
      cpuPct: last - (maxSamplesPerPoint - 1) / 2,
    })),
  );
  const exact = await metricsOf([sandbox.id], 1_000 / maxSamplesPerPoint);
  expect(exact.map(({ cpuPct }) => cpuPct)).toEqual(
    exact.map((_, n) => n * maxSamplesPerPoint + (maxSamplesPerPoint - 1) / 2),
  );
  expect(await metricsOf([sandbox.id], 1_000)).toHaveLength(1_000);
});

it('concurrent processes create each partition of metrics once', async () => {
  await measure(sandbox, present(), seconds(1), Array(50).fill(1));
  await Promise.all(Array.from({ length: 5 }, keepMetricPartitions));
  expect((await partitions()).map(({ samples }) => samples)).toEqual([50, 0, 0, 0]);
});

it('a metrics sample is stored once, in the partition of its week', async () => {
  await keepMetricPartitions();
  await measure(sandbox, present(), seconds(1), [1]);
  expect((await partitions())[0]).toEqual({ name: nameOf(present()), samples: 1 });
  await expect(measure(sandbox, present(), seconds(1), [2])).rejects.toThrow('duplicate key');
});

it('a weekly partition of metrics is dropped when its retention period ends, and old samples of the default partition are deleted', async () => {
  await measure(sandbox, present() - week, seconds(1), [1]);
  await keepMetricPartitions();
  await measure(sandbox, present(), seconds(1), [2]);
  const name = nameOf(present());
  const end = present() - (present() % week) + week;
  const names = async () => (await partitions()).map((one) => one.name);

  world.clock.turn(end + metricRetentionMs - 1 - present());
  await keepMetricPartitions();
  expect(await names()).toContain(name);
  expect(await partitions()).toContainEqual({ name: rest, samples: 0 });

  world.clock.turn(1);
  await keepMetricPartitions();
  expect(await names()).not.toContain(name);
  expect((await names()).at(-1)).toBe(rest);
  expect(await metricsOf([sandbox.id], 1_000)).toEqual([]);
});

it('dropping a partition of metrics waits only briefly for a long read, and is tried again the next time', async () => {
  await keepMetricPartitions();
  world.clock.turn(week);
  const reader = await world.knex.transaction();
  await reader.raw('lock table sandbox_metrics_default in access share mode');
  await expect(keepMetricPartitions()).rejects.toThrow('lock timeout');
  await reader.rollback();
  await keepMetricPartitions();
  expect((await partitions()).length).toBeGreaterThan(4);
});
