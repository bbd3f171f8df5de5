// A whole service on a separate database, over real HTTP, with a clock controlled by the test. Every REST response is checked against the OpenAPI document before a test sees it.
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { presetScopes, scopesOfRole } from '#access/scopes.ts';
import { openSession } from '#domain/identity/sessions/operations.ts';
import { createToken } from '#domain/identity/tokens/operations.ts';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { setEnterprise } from '#domain/money/billing/operations.ts';
import { grantCredits } from '#domain/money/credits/grants.ts';
import { addMember } from '#domain/organization/memberships/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { foundOrganization } from '#domain/organization/organizations/operations.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { findOrCreatePerson } from '#domain/organization/people/operations.ts';
import { bindVendorAddresses, type VendorAddresses } from '#domain/projects/vendors/addresses.ts';
import { now, setClock } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { createHttpServer } from '#foundation/http/http.ts';
import { startBackground } from '#foundation/jobs/background.ts';
import { openLog } from '#foundation/log.ts';
import { openMail } from '#foundation/mail/mail.ts';
import { openChanges } from '#foundation/postgres/changes.ts';
import { database, openDatabase, transaction } from '#foundation/postgres/database.ts';
import { drivers } from '#foundation/postgres/drivers.ts';
import { openReplica } from '#foundation/postgres/replica.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { subscriptions } from '#limits.ts';
import { deliveries } from '#surfaces/scheduler/deliveries.ts';
import { createApp } from '../../src/app.ts';
import { csrfToken } from '../../src/surfaces/cookie.ts';
import { freshDatabase } from './database.ts';
import { openContract } from './openapi-contract.ts';
import { type Answer, type Ask, requestsTo, type Session } from './requests.ts';

export type { Answer, Ask, Session } from './requests.ts';
export type World = Awaited<ReturnType<typeof openWorld>>;

/** How a GraphQL operation is sent. */
export type Operation = Ask & { variables?: Record<string, unknown> };

export interface WorldSettings {
  requestsPerMinute?: number;
  requestsPerMinuteOrganization?: number;
  requestsPerMinuteRuntime?: number;
  /** Whether X-Forwarded-For sets the client's address, so that a test can use many addresses. */
  trustProxy?: boolean;
  /** URLs of the vendors. By default, no server listens at them. */
  vendors?: Partial<VendorAddresses>;
  /** Connection string of a migrated database to use in place of a new one. */
  database?: string;
  /** The time in milliseconds during which work that was not applied is retried; by default the same as in production. */
  retryForMs?: number;
  /** Connection string of a standby of `database`, for reads. */
  replica?: string;
  /** Receives the log lines; by default they are dropped. */
  log?: (line: string) => void;
}

/**
 * A log that drops all lines. It has a destination, because a log without one would check five times a second, without end, whether there
 * is something to write.
 */
export const silentLog = () => openLog({ level: 'silent', destination: { write: () => {} } });

/** Address of the world whose database, clock and addresses this process uses. */
let newest = '';

export async function openWorld(settings: WorldSettings = {}) {
  const { connection, drop } = await freshDatabase();
  const { retryForMs } = settings;
  const driver = drivers.find((name) => name === process.env.TEST_DATABASE_DRIVER);
  const knex = openDatabase({
    connection: settings.database ?? connection,
    driver,
    ...(retryForMs && { retryForMs }),
  });
  const log = settings.log ? openLog({ level: 'debug', destination: { write: settings.log } }) : silentLog();
  const replica = settings.replica
    ? openReplica({ connection: settings.replica, report: (line) => log.warn(line) })
    : null;
  const changes = openChanges({ connection: settings.database ?? connection });
  let time = Date.UTC(2026, 10, 23, 9);
  let step = 0;
  setClock(() => (time += step));
  bindSecretKey(Buffer.alloc(32, 7));
  if (!settings.database) await addKnownRuntime();
  openMail({ from: 'platform@example.com', log: () => {} });
  const contents = mkdtempSync(path.join(tmpdir(), 'aep-contents-'));
  openStorage(folderStorage(contents));

  // The addresses contain the port, so the server listens before the app exists.
  const server = createHttpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  newest = url;
  bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
  const nobody = 'http://127.0.0.1:9';
  bindVendorAddresses({ linear: nobody, github: nobody, gitlab: nobody, ...settings.vendors });
  const requestsPerMinute = settings.requestsPerMinute ?? 1_000_000;
  server.on(
    'request',
    createApp({
      version: '0.0.0',
      requestsPerMinute,
      requestsPerMinuteOrganization: settings.requestsPerMinuteOrganization ?? 1_000_000,
      requestsPerMinuteRuntime: settings.requestsPerMinuteRuntime ?? 1_000_000,
      subscriptionsPerOrganization: subscriptions.perOrganization,
      registrationsPerHour: 1_000_000,
      claimGrantType: 'urn:workos:agent-auth:grant-type:claim',
      trustedIssuers: [],
      trustProxy: settings.trustProxy ?? false,
      log,
    }),
  );
  const contract = await openContract(url);

  const ask = requestsTo(url);
  const request: typeof ask = (...asked) => {
    if (newest !== url) throw new Error('Another world was opened after this one, which serves no more.');
    return ask(...asked);
  };

  const graphql = (query: string, { variables, ...rest }: Operation = {}): Promise<Answer> =>
    request('POST', '/graphql', { ...rest, body: { query, variables } });

  async function session(person: Person, orgId: string | null = null): Promise<Session> {
    const opened = await openSession(person.id, { userAgent: 'test', address: '127.0.0.1' });
    if (orgId) await knex('sessions').where({ id: opened.id }).update({ orgId });
    return { secret: opened.secret, csrf: csrfToken(opened.id) };
  }

  return {
    url,
    server: server as Server,
    connection,
    /** The folder of the storage. */
    contents,
    knex,
    contract,
    clock: {
      turn(milliseconds: number): void {
        time += milliseconds;
      },
      /** Makes the clock advance by these milliseconds each time that it is read, until `tick(0)` is called. */
      tick(milliseconds: number): void {
        step = milliseconds;
      },
    },
    /** A request with any path, without a check of the response. */
    request,
    /** A request to a path below /v1, whose response is checked against the OpenAPI document. */
    async rest(method: string, path: string, ask: Ask = {}): Promise<Answer> {
      const answer = await request(method, `/v1${path}`, ask);
      contract.check(method, path, answer);
      return answer;
    },
    graphql,
    /** The data of the only requested root field, or the problem of the response. */
    async field(query: string, ask: Operation = {}): Promise<Answer['body']> {
      const { body } = await graphql(query, ask);
      return body.errors ? body.errors[0].extensions.problem : Object.values(body.data)[0];
    },
    person: (name: string): Promise<Person> => findOrCreatePerson(`${name.toLowerCase()}@example.com`, name),
    found: (founder: Person, name: string): Promise<Organization> => foundOrganization(founder.id, { name }),
    async join(organization: Organization, person: Person, role: OrgRole): Promise<void> {
      await transaction((trx) => addMember(trx, organization.id, person.id, role));
    },
    /** Grants credits in addition to those of the trial. */
    async grant({ id }: Pick<Organization, 'id'>, credits: number): Promise<void> {
      await transaction((trx) => grantCredits(trx, id, { lot: { kind: 'grant' }, credits }));
    },
    /** Lifts the limits of the plan, for a test that creates many projects or starts many missions. */
    async lift({ id }: Pick<Organization, 'id'>): Promise<void> {
      await transaction((trx) => setEnterprise(trx, id, true));
    },
    session,
    /** A personal access token of a person; by default with the scopes of the preset `all`. */
    async token(person: Person, organization: Organization, grant: Grant = {}): Promise<string> {
      const caller = await callerFor(person, organization);
      const scopes = grant.scopes ?? presetScopes('all', caller.scopes);
      const created = await createToken(caller, {
        name: 'test',
        scopes,
        expiresInDays: 30,
        projectId: grant.projectId,
      });
      return created.token;
    },
    /**
     * Runs all waiting background jobs. A world has no worker of its own, so that nothing happens alongside a test. Only queues with due
     * jobs get a worker, because all of them at once would open a connection each.
     */
    async delivered(): Promise<void> {
      for (let due = await dueQueues(knex); due.length > 0; due = await dueQueues(knex)) {
        const handlers = Object.fromEntries(due.map((queue) => [queue, deliveries[queue]]));
        const background = startBackground(handlers, { log });
        await background.settled();
        await background.stop();
      }
    },
    service: async (): Promise<string> => (await createServiceToken({ name: 'runtime' })).token,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await changes.close();
      await replica?.close();
      await knex.destroy();
      await drop();
      rmSync(contents, { recursive: true, force: true });
      setClock();
    },
  };

  async function callerFor(person: Person, organization: Organization): Promise<Caller> {
    const membership = await knex('memberships').where({ orgId: organization.id, userId: person.id }).first();
    const role = membership.role as OrgRole;
    return {
      principalType: 'cookie',
      credentialId: 'test',
      userId: person.id,
      orgId: organization.id,
      role,
      scopes: scopesOfRole(role),
      projectId: null,
    };
  }
}

/** The queues with a job that a worker would take now. */
async function dueQueues(knex: Knex): Promise<(keyof typeof deliveries)[]> {
  const { rows } = await knex.raw(
    `select distinct name from background.job
      where state in ('created', 'retry') and start_after < now() and name = any(?)`,
    [Object.keys(deliveries)],
  );
  return rows.map(({ name }: { name: keyof typeof deliveries }) => name);
}

export interface Grant {
  scopes?: string[];
  projectId?: string;
}

/**
 * Name of a runtime that connected once and is now disconnected. People can start missions because the service knows a runtime that has
 * language models. These missions wait until a test connects a runtime.
 */
export const knownRuntime = 'known runtime';
export async function addKnownRuntime(): Promise<void> {
  const { id: credentialId } = await createServiceToken({ name: knownRuntime });
  const seen = { credentialId, runtime: knownRuntime, seenAt: Date.UTC(2026, 10, 23, 8) };
  const harnesses = ['claude-code', 'codex', 'opencode'];
  await database()('runtime_harnesses').insert(harnesses.map((harness) => ({ ...seen, harness })));
}

/** Current time of the world, in epoch milliseconds. */
export const present = now;
