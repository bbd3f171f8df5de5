// Processes that are killed with SIGKILL send audit logs to an https collector and to a bucket. Every event arrives, an event that is sent again
// arrives with the same bytes, and the delivered logs can be verified without the service. EVENTS=<n> and KILLS=<n> make larger runs
// (bench/README.md).
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startDeliveries } from '#domain/lifecycle/audit/stream/delivery.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { days } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { verifyFile } from '../../../clients/cli/src/audit-file.ts';
import { createOwner } from '../../support/callers.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { openS3, type S3 } from '../../support/fake-s3.ts';
import { startSenders } from '../../support/killed-senders.ts';
import { openWorld, type World } from '../../support/world.ts';

const [events, kills] = [Number(process.env.EVENTS ?? 300), Number(process.env.KILLS ?? 4)];
/**
 * Events are recorded in portions, each after the previous one has arrived. This results in many requests, and a process can be killed
 * during any of them.
 */
const portion = Math.ceil(events / (kills * 3));

interface Destination {
  name: string;
  address: string;
  secret: object;
  orgId: string;
  /** The lines of the audit log in each received request. In requests to a bucket, `key` is the name of the object. */
  requests: { key: string; lines: string[] }[];
}

let world: World;
let s3: S3;
const destinations: Destination[] = [];
const { key, cert } = makeCertificate();
/** Called with each request that has arrived, before it is answered. */
let arrived = (_name: string): void => {};

const collector = createServer({ key, cert }, async (req, res) => {
  receive('collector', '', (await req.toArray()).join(''));
  res.writeHead(204).end();
});

function receive(name: string, object: string, text: string): void {
  destinations.find((one) => one.name === name)!.requests.push({ key: object, lines: text.trimEnd().split('\n') });
  arrived(name);
}

beforeAll(async () => {
  world = await openWorld();
  s3 = await openS3('logs');
  openOutbound({ allowLoopback: true, ca: cert });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { set } = s3.objects;
  s3.objects.set = (object, body) => {
    receive('bucket', object, body.toString('utf8'));
    return set.call(s3.objects, object, body);
  };
  const { port } = collector.address() as AddressInfo;
  await choose('collector', `https://127.0.0.1:${port}/audit`, {});
  await choose('bucket', `s3://logs/acme?endpoint=${s3.endpoint}`, s3.credentials);
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  collector.closeAllConnections();
  await Promise.all([world.close(), s3.close(), new Promise((resolve) => collector.close(resolve))]);
});

async function choose(name: string, address: string, secret: object): Promise<void> {
  const { person, organization } = await createOwner(world, name, name);
  const query = 'mutation ($input: SetAuditStreamRequest!) { setAuditStream(input: $input) { stream { state } } }';
  const session = await world.session(person, organization.id);
  const saved = await world.field(query, { session, variables: { input: { address, ...secret } } });
  expect(saved).toEqual({ stream: { state: 'waiting' } });
  destinations.push({ name, address, secret, orgId: organization.id, requests: [] });
}

const record = (orgId: string, count: number): Promise<unknown> =>
  world.knex.raw(
    `insert into audit_changes (org_id, source, after)
      select ?, 'host_thread_answers', jsonb_build_object('key', n, 'path', 'Ä-' || n) from generate_series(1, ?) n`,
    [orgId, count],
  );

/**
 * Returns the lines that a destination has received. If the destination is a collector, the lines are in the order of their arrival. If the
 * destination is a bucket, the lines are sorted by the names of the objects that contain them.
 */
const linesOf = ({ requests }: Destination): string[] =>
  requests.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).flatMap(({ lines }) => lines);

/** The entries by their numbers. @throws when a number has arrived with two texts */
function entriesOf(destination: Destination): Map<number, string> {
  const entries = new Map<number, string>();
  for (const line of linesOf(destination)) {
    const number = Number(/^\{"number":(\d+),/.exec(line)?.[1]);
    if (!number) continue;
    expect(entries.get(number) ?? line).toBe(line);
    entries.set(number, line);
  }
  return entries;
}

const arrivedAll = (): Promise<void> =>
  vi.waitFor(
    async () => {
      for (const destination of destinations) {
        const pending = world.knex('audit_changes').where({ orgId: destination.orgId }).count().first();
        expect(await pending).toEqual({ count: 0 });
        const { lastNumber } = await world.knex('audit_counters').where({ orgId: destination.orgId }).first();
        expect(entriesOf(destination).size).toBe(lastNumber);
      }
    },
    { interval: 20 },
  );

it('no audit event is lost while the sending processes are killed, and the delivered log verifies', {
  timeout: 600_000,
}, async () => {
  let [requests, killed] = [0, 0];
  const senders = startSenders(world, {
    ca: cert,
    speed: 600,
    wanted: 'number the changes|add events to the trees|send audit logs',
    queues: ['audit stream'],
  });
  arrived = (name) => {
    // The sending processes are killed alternately during a request to the collector and during a request to the bucket. A killed process does not
    // learn that the request has arrived, so its successor sends the same events again.
    if (++requests < 3 || killed === kills || name !== destinations[killed % 2]!.name) return;
    requests = 0;
    killed++;
    senders.replace();
  };
  try {
    for (let recorded = 0; recorded < events; recorded += portion) {
      for (const { orgId } of destinations) await record(orgId, Math.min(portion, events - recorded));
      await arrivedAll();
    }
  } finally {
    senders.stop();
  }
  expect(killed).toBe(kills);
  world.clock.turn(days(1));
  await signCheckpoints();
  await startDeliveries();
  await world.delivered();
  for (const destination of destinations) {
    const entries = entriesOf(destination);
    expect([...entries.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: entries.size }, (_, i) => i + 1),
    );
    // The first of several equal lines counts, as in docs/audit.md.
    const lines = [...new Set(linesOf(destination))];
    expect(lines.length).toBeLessThan(linesOf(destination).length);
    const { findings, signed } = await verifyFile(toStream(lines), { kept: [] });
    expect({ findings, signed }).toEqual({ findings: [], signed: entries.size });
  }
  expect(senders.complaints()).toBe('');
});

async function* toStream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
