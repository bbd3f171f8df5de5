// Clients of A2A whose messages start missions, and a runtime that the test itself controls.
import { CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest, type Task } from '@a2a-js/sdk';
import { type Client, ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { expect } from 'vitest';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createOwner, createProject } from './callers.ts';
import { createRuntime } from './runtime-client.ts';
import { openWorld } from './world.ts';

export const request = (one: object, configuration: object = { returnImmediately: true }) =>
  SendMessageRequest.fromJSON({ message: one, configuration });

export const caught = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error: Error & { envelopeCode?: number }) => [error.envelopeCode, error.message],
  );

export async function openA2aWorld() {
  openOutbound({ allowLoopback: true });
  const world = await openWorld();
  const account = await createOwner(world, 'Alice', 'Acme');
  const { person: owner, organization: acme, token: alice } = account;
  const runtime = await createRuntime(world, acme);
  const projectId = await createProject(world, account, 'Shop');
  const client = await connect(alice);
  const stranger = await connect((await createOwner(world, 'Mallory', 'Globex')).token);

  /** The official client, which reads the card and chooses the transport. */
  function connect(token: string): Promise<Client> {
    const fetchImpl: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(url, { ...init, headers });
    };
    return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] }).createFromUrl(world.url);
  }

  let sent = 0;
  const message = (words: string, more: object = {}) => ({
    messageId: `message-${++sent}`,
    role: 'ROLE_USER',
    parts: [{ text: words }],
    ...more,
  });
  const send = async (words: string, more: object = {}, by = client): Promise<Task> =>
    (await by.sendMessage(request(message(words, more)))) as Task;
  const get = (id: string, more: object = {}, by = client) => by.getTask(GetTaskRequest.fromJSON({ id, ...more }));
  const cancel = (id: string, by = client) => by.cancelTask(CancelTaskRequest.fromJSON({ id }));
  const list = (more: object = {}, by = client) => by.listTasks(ListTasksRequest.fromJSON(more));

  const claim = () => runtime.claim({}, '{ runId leaseId prompt }');
  return {
    world,
    owner,
    acme,
    alice,
    runtime,
    projectId,
    client,
    stranger,
    connect,
    message,
    send,
    get,
    cancel,
    list,
    claim,
    async close(): Promise<void> {
      await world.close();
      openOutbound({ allowLoopback: false });
    },
    reset: () => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }),
  };
}
