// The endpoints for operators: liveness, readiness, metrics and the state of the installation
// (docs/decisions/0033-settings-fail-together.md).

import { open as openFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { readStatus } from '#domain/lifecycle/installation/status.ts';
import { seconds } from '#foundation/clock.ts';
import { isLoopbackHost } from '#foundation/http/hosts.ts';
import { answer, answerJson, type Exchange, type Handler } from '#foundation/http/http.ts';
import { metricsText, metricsType } from '#foundation/metrics.ts';
import { database, sql } from '#foundation/postgres/database.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { forbidden } from '#foundation/problem.ts';
import { allowMethods, type CallerSettings, framed } from '../frame.ts';
import './service-metrics.ts';

/** How long a readiness probe waits for the database. */
const probeTimeoutMs = seconds(2);

export interface OperatorSettings extends Pick<CallerSettings, 'authenticate' | 'report'> {
  version: string;
}

const uncached = { 'cache-control': 'no-store' };

export function createOperator({ version, authenticate, report }: OperatorSettings) {
  const answers: Record<string, Handler> = {
    '/livez': (exchange) => answerJson(exchange, 200, { status: 'live', version }, uncached),
    '/readyz': async (exchange) => {
      const readiness = await checkReadiness();
      answerJson(exchange, readiness.status === 'ready' ? 200 : 503, readiness, uncached);
    },
    '/metrics': async (exchange) => {
      if (!isLocal(exchange.req)) await requireService(exchange, authenticate);
      answer(exchange, 200, await metricsText(), { 'content-type': metricsType, ...uncached });
    },
    // This endpoint needs the credential even from this machine, because it shows names of organizations and texts of statements; the
    // operator has a command for the same data.
    '/status': async (exchange) => {
      await requireService(exchange, authenticate);
      answerJson(exchange, 200, { version, ...(await readStatus()) }, uncached);
    },
  };
  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = exchange.path;
    allowMethods(exchange, 'GET', 'HEAD');
    await answers[exchange.path]!(exchange);
  }
  return {
    name: 'operator',
    owns: (path: string): boolean => Object.hasOwn(answers, path),
    handle: framed(handle, { report }),
  };
}

export type Readiness =
  | { status: 'ready'; database: 'reachable'; migrations: 'current' }
  | { status: 'unready'; descriptors: 'exhausted' }
  | { status: 'unready'; database: 'unreachable' }
  | { status: 'unready'; database: 'reachable'; migrations: 'pending'; pending: string[] };

/** A process without a free file descriptor is not ready: it can neither accept a request nor open a connection to the database. */
const lacksDescriptors = (): Promise<boolean> =>
  openFile(process.execPath).then(
    async (file) => file.close().then(() => false),
    ({ code }) => code === 'EMFILE' || code === 'ENFILE',
  );

/** Whether requests can be served: the database responds in time and has no pending migration. */
async function checkReadiness(): Promise<Readiness> {
  if (await lacksDescriptors()) return { status: 'unready', descriptors: 'exhausted' };
  const state = await inTime(sql('select 1').then(() => migrationStatus(database())));
  if (!state) return { status: 'unready', database: 'unreachable' };
  const { pending } = state;
  if (pending.length > 0) return { status: 'unready', database: 'reachable', migrations: 'pending', pending };
  return { status: 'ready', database: 'reachable', migrations: 'current' };
}

/** The result, or null when the work fails or takes longer than the limit. */
async function inTime<T>(work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), probeTimeoutMs);
  });
  try {
    return await Promise.race([work.catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Names of headers that proxies add. A request with such a header is not local, even if it comes from loopback, because a proxy on this
 * machine passed it on.
 */
const proxyHeader = /^(x-forwarded-.*|x-real-ip|forwarded|via)$/;

/** Whether the request comes from this machine: from a loopback address, to a loopback host name, and without headers of a proxy. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  const isLoopbackPeer = (peer === '::1' || peer.startsWith('127.')) && isLoopbackHost(headers.host);
  return isLoopbackPeer && !Object.keys(headers).some((name) => proxyHeader.test(name));
}

async function requireService(exchange: Exchange, authenticate: OperatorSettings['authenticate']): Promise<void> {
  const caller = await authenticate(exchange);
  // Tokens that admins create for their organization are refused, because metrics cover all organizations.
  if (caller.principalType !== 'service' || caller.orgId !== null)
    throw forbidden(
      exchange.path === '/status'
        ? 'Reading the state of the installation requires a service token for all organizations.'
        : 'Reading metrics requires a service token for all organizations, or a request from this machine.',
    );
}
