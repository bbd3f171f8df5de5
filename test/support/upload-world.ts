// Uploads of artifacts to a storage, which is a folder or a bucket. A test can send an upload in one request, or begin a request and send
// the rest of its body later.
import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { type ReservedContent, reserveContent } from '#domain/work/artifacts/content.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { createCallersWithProjects } from './callers.ts';
import { openS3 } from './fake-s3.ts';
import { openWorld } from './world.ts';

export const until = async (met: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await met())) await new Promise(setImmediate);
};

/** A request that is sent in parts, and its response. */
export function begin(address: string, headers: Record<string, string | number> = {}, method = 'PUT') {
  const sending = request(address, { method, headers, agent: false });
  const answer = new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode!, headers: response.headers, body });
    });
  });
  return { sending, answer };
}

export async function openUploadWorld() {
  /** Errors in the log. */
  const faults: string[] = [];
  const world = await openWorld({ log: (line) => line.includes('"msg":"request failed"') && faults.push(line) });
  const { contents: folder } = world;
  const storage = folderStorage(folder);
  const s3 = await openS3();
  const { shop, foreign } = await createCallersWithProjects(world);

  const reserve = (): Promise<ReservedContent> => reserveContent(shop.orgId);
  const put = (address: string, body: string | Uint8Array = '', headers: Record<string, string> = {}) =>
    world.request('PUT', address.slice(world.url.length), { body, headers });
  const rowOf = ({ contentKey }: ReservedContent) => world.knex('storedContents').where({ key: contentKey }).first();
  const files = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(path.join(folder, name)).isFile(),
    );
  async function contentOf({ contentKey }: ReservedContent): Promise<string | null> {
    const content = await storage.read(contentKey);
    return content && Buffer.concat(await content.toArray()).toString();
  }

  /** An upload whose first bytes have arrived in the storage. */
  async function beginUpload(content: ReservedContent, first = 'first ') {
    const begun = begin(content.uploadUrl);
    begun.sending.write(first);
    const isIt = (name: string) =>
      name.includes(content.contentKey) && statSync(path.join(folder, name)).size === first.length;
    await until(() => files().some(isIt));
    return begun;
  }
  return {
    world,
    faults,
    storage,
    s3,
    shop,
    foreign,
    reserve,
    put,
    rowOf,
    files,
    contentOf,
    beginUpload,
    folder,
    check: () => openStorage(storage),
    async close(): Promise<void> {
      await world.close();
      await s3.close();
    },
  };
}
