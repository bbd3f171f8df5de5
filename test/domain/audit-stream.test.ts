// The audit log is sent to a destination of its organization. In the end every event has arrived, whatever the destination does in between,
// and nothing is ever sent to an address in the network of the service.

import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deliverAuditLog, startDeliveries } from '#domain/lifecycle/audit/stream/delivery.ts';
import { destinationOf } from '#domain/lifecycle/audit/stream/destination.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { growAllTrees } from '#domain/lifecycle/audit/tree/growth.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { readBucket } from '#foundation/storage/s3.ts';
import { putObject } from '#foundation/storage/s3-put.ts';
import { verifyFile } from '../../clients/cli/src/audit-file.ts';
import { createOwner } from '../support/callers.ts';
import { makeCertificate } from '../support/certificate.ts';
import { openS3 } from '../support/fake-s3.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Person;
let acme: Organization;
let founded = 0;
const servers: Server[] = [];
beforeAll(async () => {
  world = await openWorld();
  openOutbound({ allowLoopback: true });
});
beforeEach(async () => {
  ({ person: alice, organization: acme } = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`));
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  for (const server of servers) server.close();
  await world.close();
});

async function serve(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A collector: the lines that it has accepted, and its response. */
async function openCollector() {
  const collector = {
    address: '',
    lines: [] as string[],
    tokens: new Set<string | undefined>(),
    answer: (res: ServerResponse): void => void res.writeHead(204).end(),
  };
  const listener: RequestListener = async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    collector.tokens.add(req.headers.authorization);
    res.on('finish', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      if (res.statusCode < 300) collector.lines.push(...text.trimEnd().split('\n'));
    });
    collector.answer(res);
  };
  collector.address = `http://127.0.0.1:${await serve(createServer(listener))}/audit`;
  return collector;
}

const selection = '{ address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt }';
async function choose(input: object) {
  const session = await world.session(alice, acme.id);
  const query = `mutation ($input: SetAuditStreamRequest!) { setAuditStream(input: $input) { token stream ${selection} } }`;
  return world.field(query, { session, variables: { input } });
}
const health = async () =>
  (await world.field(`{ auditStream { stream ${selection} } }`, { session: await world.session(alice, acme.id) }))
    .stream;
/** Records actions, and adds their events to the tree. */
async function act(count: number): Promise<void> {
  await world.knex.raw(
    `insert into audit_changes (org_id, source, after)
      select ?, 'host_thread_answers', jsonb_build_object('key', n, 'path', 'Ä-' || n) from generate_series(1, ?) n`,
    [acme.id, count],
  );
  await numberAllChanges();
  await growAllTrees();
}
async function deliver(): Promise<void> {
  await numberAllChanges();
  await growAllTrees();
  await startDeliveries();
  await world.delivered();
}
const numbersOf = (lines: readonly string[]): number[] =>
  lines.flatMap((line) => (line.startsWith('{"number"') ? [JSON.parse(line).number as number] : []));
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

describe('collectors of audit events', () => {
  it('a collector of audit events gets the whole audit log with its checkpoints, and can verify what it got without the service', async () => {
    const collector = await openCollector();
    await act(1_200);
    await signCheckpoints();
    const { token, stream } = await choose({ address: collector.address });
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(stream).toMatchObject({ address: collector.address, state: 'waiting', lastNumber: 0, deliveredAt: null });
    await deliver();
    const { lastNumber } = await health();
    expect(numbersOf(collector.lines)).toEqual(upTo(lastNumber));
    world.clock.turn(hours(1));
    await signCheckpoints();
    await deliver();
    const { findings, entries, signed, checkpoints } = await verifyFile(linesOf(collector.lines), { kept: [] });
    const now = await health();
    expect({ findings, entries, signed, checkpoints }).toEqual({
      ...{ findings: [], entries: now.lastNumber, signed: now.lastNumber, checkpoints: 2 },
    });
    expect(now).toMatchObject({ state: 'delivering', pending: 0, failingSince: null, nextAttemptAt: null });
    expect([...collector.tokens]).toEqual([`Bearer ${token}`]);
    const { sealedSecret } = await world.knex('audit_streams').where({ orgId: acme.id }).first();
    expect(sealedSecret).not.toContain(token);
    expect(numbersOf(collector.lines)).toContain(now.lastNumber);
    const [event] = (
      await world.rest('GET', '/audit-events?targetType=audit_stream', { session: await world.session(alice, acme.id) })
    ).body.data;
    expect(event.changes).toContainEqual({ path: 'sealedSecret', before: null, after: '[secret]' });
  });

  it('a collector misses no audit event after a day of downtime: deliveries are retried after growing delays, and a notice names the failure', async () => {
    const collector = await openCollector();
    await choose({ address: collector.address, token: 'given-by-the-collector' });
    await deliver();
    const before = collector.lines.length;
    collector.answer = (res) => void res.writeHead(503, { 'retry-after': '7' }).end();
    await act(3);
    const waits: number[] = [];
    for (let tries = 0; tries < 9; tries++) {
      await deliver();
      const { nextAttemptAt, lastError } = await health();
      expect(lastError).toBe('It answered 503.');
      waits.push((nextAttemptAt - present()) / seconds(1));
      world.clock.turn(nextAttemptAt - present());
    }
    expect(waits).toEqual([7, 10, 20, 40, 80, 160, 320, 600, 600]);
    const later = Math.ceil(present() / seconds(1)) * seconds(1) + seconds(700);
    collector.answer = (res) => void res.writeHead(503, { 'retry-after': new Date(later).toUTCString() }).end();
    await deliver();
    expect((await health()).nextAttemptAt).toBe(later);
    world.clock.turn(days(1));
    await act(700);
    await deliver();
    const failing = await health();
    expect(failing).toMatchObject({ state: 'failing', pending: expect.any(Number) });
    expect(failing.pending).toBeGreaterThan(700);
    const session = await world.session(alice, acme.id);
    const notices = async () =>
      (await world.rest('GET', '/notices', { session })).body.notices.filter(({ id }: { id: string }) =>
        /^audit_stream/.test(id),
      );
    expect(await notices()).toEqual([
      {
        id: `audit_stream_failing:${failing.failingSince}`,
        kind: 'action',
        title: 'The audit log does not arrive at its destination',
        body: expect.stringContaining('It answered 503.'),
        actionUrl: `${world.url}/console/o/${acme.slug}/audit`,
        createdAt: failing.failingSince,
      },
    ]);
    collector.answer = (res) => void res.writeHead(200).end();
    await world.field('mutation { retryAuditStream { stream { state } } }', { session });
    await deliver();
    const { lastNumber, ...healthy } = await health();
    expect(numbersOf(collector.lines)).toEqual(upTo(lastNumber));
    expect(collector.lines.length).toBeGreaterThan(before + 700);
    expect(healthy).toMatchObject({ state: 'delivering', failingSince: null, lastError: null });
    expect(await notices()).toEqual([]);
  });

  it('a batch of audit events is sent again with the same bytes if the service has not stored that the collector accepted the batch', async () => {
    const collector = await openCollector();
    await choose({ address: collector.address });
    await act(20);
    await deliver();
    const first = [...collector.lines];
    await world.knex('audit_streams').where({ orgId: acme.id }).update({ lastNumber: 0, lastCheckpointHour: 0 });
    await deliver();
    expect(collector.lines.slice(first.length, first.length * 2)).toEqual(first);
  });

  it('a collector of audit events that does not answer delays no other organization', async () => {
    const slow = await openCollector();
    const held: ServerResponse[] = [];
    slow.answer = (res) => void held.push(res);
    await choose({ address: slow.address });
    const { id: slowId } = acme;
    await act(1);
    const other = await openCollector();
    ({ person: alice, organization: acme } = await createOwner(world, `Bob-${founded}`, `Beside ${founded}`));
    await choose({ address: other.address });
    await act(1);
    const waiting = deliverAuditLog({ orgId: slowId });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await deliverAuditLog({ orgId: acme.id });
    const { dueAt } = await world.knex('audit_streams').where({ orgId: acme.id }).first();
    expect(dueAt).toBe(present());
    expect(numbersOf(other.lines).length).toBeGreaterThan(0);
    expect(slow.lines).toEqual([]);
    held[0]!.writeHead(200).end();
    await waiting;
    expect(numbersOf(slow.lines).length).toBeGreaterThan(0);
  });

  it('the audit stream is not marked as failing when a collector refuses a delivery after a concurrent one has succeeded', async () => {
    const collector = await openCollector();
    const held: ServerResponse[] = [];
    const { answer } = collector;
    collector.answer = (res) => void held.push(res);
    await choose({ address: collector.address });
    await act(1);
    const overtaken = deliverAuditLog({ orgId: acme.id });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    collector.answer = answer;
    await deliverAuditLog({ orgId: acme.id });
    held[0]!.writeHead(500).end();
    await overtaken;
    expect(await health()).toMatchObject({ state: 'delivering', failingSince: null, lastError: null });
  });

  it('an audit stream shows an error when its collector redirects, has a wrong certificate or is gone; an endless answer is not an error', async () => {
    const collector = await openCollector();
    collector.answer = (res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    const { key, cert } = makeCertificate(['elsewhere.example']);
    const secure = await serve(createHttpsServer({ key, cert }, (_req, res) => void res.end()));
    const errorAt = async (address: string) => {
      await choose({ address });
      await deliver();
      return (await health()).lastError;
    };
    expect(await errorAt(collector.address)).toBe('It answered 302; redirects are not followed.');
    expect(await errorAt(`https://127.0.0.1:${secure}/`)).toMatch(/^The certificate is not accepted: [A-Z_]+\.$/);
    expect(await errorAt('http://127.0.0.1:9/')).toBe('The connection failed: ECONNREFUSED.');
    collector.answer = (res) => {
      res.writeHead(200);
      const more = () => void (res.destroyed || res.write('x'.repeat(65_536), () => setImmediate(more)));
      more();
    };
    expect(await errorAt(collector.address)).toBeNull();
    expect((await health()).state).toBe('delivering');
  });
});

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

it('audit events for a bucket are sent only to the server that was checked, whatever the environment variables of the AWS SDK say', async () => {
  process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:9';
  const hosts: string[] = [];
  const resolve = async (host: string) => {
    hosts.push(host);
    return [];
  };
  openOutbound({ allowLoopback: true, resolve });
  try {
    const credentials = { accessKeyId: 'AKSTANDIN', secretAccessKey: 'a-secret' };
    const put = { credentials, key: 'one', text: 'line', signal: AbortSignal.timeout(seconds(15)) };
    const server = 'https://s3.eu-west-1.amazonaws.com';
    for (const address of ['s3://logs?region=eu-west-1', 's3://logs?region=eu-west-1&path-style=on'])
      await putObject({ ...put, bucket: readBucket(address)!, server }).catch(() => {});
    expect(hosts).toEqual(['logs.s3.eu-west-1.amazonaws.com', 's3.eu-west-1.amazonaws.com']);
    expect(destinationOf('s3://logs?region=cn-north-1')).toMatchObject({
      server: 'https://s3.cn-north-1.amazonaws.com.cn',
    });
  } finally {
    delete process.env.AWS_ENDPOINT_URL;
    openOutbound({ allowLoopback: true });
  }
});

it('a bucket gets one object per batch, named by the numbers of its events', async () => {
  const s3 = await openS3('logs');
  try {
    const address = `s3://logs/acme?endpoint=${s3.endpoint}`;
    const refused = (field: string, problem: { fields: { path: string }[] }) =>
      expect(problem.fields.map(({ path }) => path)).toEqual([field]);
    refused('accessKeyId', await choose({ address }));
    refused('secretAccessKey', await choose({ address, accessKeyId: 'AKSTANDIN' }));
    refused('address', await choose({ address: 's3://logs/acme' }));
    const keys = { accessKeyId: 'AKSTANDIN', secretAccessKey: 'a/secret+of=the-stand-in' };
    expect(await choose({ address, ...keys, secretAccessKey: 'another-secret' })).toMatchObject({ token: null });
    await act(600);
    await deliver();
    expect((await health()).lastError).toBe('It answered 403.');
    // The operator has set another storage server in the environment. This setting does not apply to the bucket of an organization.
    process.env.AWS_ENDPOINT_URL_S3 = 'http://127.0.0.1:9';
    process.env.AWS_USE_FIPS_ENDPOINT = 'true';
    await choose({ address, ...keys });
    await deliver();
    const { lastNumber, state } = await health();
    expect(state).toBe('delivering');
    const day = '2026/1[12]/\\d\\d';
    const names = [...s3.objects.keys()];
    expect(names[0]).toMatch(new RegExp(`^logs/acme/${day}/000000000001-000000000500\\.jsonl$`));
    const lines = names.flatMap((name) => s3.objects.get(name)!.toString('utf8').trimEnd().split('\n'));
    expect(numbersOf(lines)).toEqual(upTo(lastNumber));
  } finally {
    await s3.close();
  }
});

describe('the destination of an audit stream', () => {
  const problemOf = async (input: object) => {
    const { code, fields } = await choose(input);
    return [code, fields?.[0]?.path, fields?.[0]?.message];
  };

  it('400 · the destination of audit events must be a public https URL or a bucket, and `after` must not exceed the last number of the log', async () => {
    const format =
      'must be an https URL, or s3://bucket/prefix?region=REGION with no other parameters than endpoint and path-style';
    expect(await problemOf({ address: 'ftp://logs.example/' })).toEqual(['invalid_request', 'address', format]);
    const { address } = await openCollector();
    const [, field, message] = await problemOf({ address, after: 1_000_000 });
    expect([field, message]).toEqual([
      'after',
      expect.stringMatching(/^must be at most \d+, the last number of the log$/),
    ]);
    expect(await problemOf({ address, accessKeyId: 'AKSTANDIN' })).toEqual([
      'invalid_request',
      'accessKeyId',
      'is only for a bucket',
    ]);
    openOutbound({ allowLoopback: false });
    try {
      const host = 'must be an https URL of a public host';
      for (const inside of [address, 'https://10.0.0.1/', 'https://169.254.169.254/latest', 'https://[::1]/'])
        expect(await problemOf({ address: inside })).toEqual(['invalid_request', 'address', host]);
      const keys = { accessKeyId: 'AKSTANDIN', secretAccessKey: 'a-secret' };
      expect(await problemOf({ address: 's3://logs?endpoint=https://10.0.0.1', ...keys })).toEqual([
        'invalid_request',
        'address',
        host,
      ]);
    } finally {
      openOutbound({ allowLoopback: true });
    }
    expect(await health()).toBeNull();
  });

  it('403 · setting the destination of audit events requires organizations:write; only a new host gets a new token', async () => {
    const { address } = await openCollector();
    const { token } = await choose({ address });
    const query = `mutation { setAuditStream(input: { address: "${address}/moved" }) { token } }`;
    const blind = await world.token(alice, acme, { scopes: ['audit:read'] });
    expect(await world.field(query, { token: blind })).toMatchObject({
      code: 'missing_scope',
      missingScopes: ['organizations:write'],
    });
    const stays = await choose({ address: `${address}/moved` });
    expect(stays.token).toBeNull();
    const { address: elsewhere } = await openCollector();
    const moved = await choose({ address: elsewhere });
    expect(moved.token).toMatch(/^[\w-]{43}$/);
    expect(moved.token).not.toBe(token);
    const session = await world.session(alice, acme.id);
    for (const _ of ['deleted', 'again']) {
      expect(await world.field('mutation { deleteAuditStream { ok } }', { session })).toEqual({ ok: true });
    }
    expect(await health()).toBeNull();
    expect(await world.field('mutation { retryAuditStream { stream { state } } }', { session })).toEqual({
      stream: null,
    });
  });
});
