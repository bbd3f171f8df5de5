// A preview environment on a single machine: a folder, served on a separate port for the duration of the run.
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { RunLease } from '../contract.ts';
import { type EnvironmentMove, moveEnvironment, registerEnvironment } from '../generated/operations.ts';
import { isInside, openInside } from '../isolation/inside.ts';
import type { Platform } from './platform.ts';

export interface Preview {
  environmentId: string;
  address: string;
  /** Ends the preview; a repeated call changes nothing. */
  close(): Promise<void>;
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.png': 'image/png',
};

/**
 * Serves the files of a folder of the run. A symbolic link is not followed if it leads out of the folder. @param key Key of the sandbox
 * that the preview belongs to: a runner that takes over the run opens another preview. @param work The folder of the run: a real path.
 * @throws when `folder` is not in `work`
 */
export async function openPreview(
  platform: Platform,
  lease: RunLease,
  key: string,
  work: string,
  folder: string,
  lifetime: number,
): Promise<Preview> {
  if (platform.via.isRelayed) throw new Error('missions in a Kubernetes cluster cannot have preview environments');
  const root = await realpath(path.resolve(work, folder));
  if (root !== work && !isInside(work, root)) throw new Error(`${folder} is not in the folder of the run`);
  const server = createServer(async (request, response) => {
    try {
      const asked = decodeURIComponent(new URL(request.url!, 'http://preview').pathname);
      const file = path.join(root, asked.endsWith('/') ? `${asked}index.html` : asked);
      const content = (await openInside(root, file)).createReadStream();
      response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'text/plain' });
      content.on('error', () => response.destroy()).pipe(response);
      response.on('close', () => content.destroy());
    } catch {
      response.writeHead(404).end('Not found\n');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const workerName = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shut = () => {
    server.close();
    server.closeAllConnections();
  };
  const move = (environmentId: string, status: EnvironmentMove) =>
    platform.mutate(moveEnvironment, { environmentId, status });
  try {
    // The expiry ends the preview on the platform even if the runner is killed.
    const input = { ...lease, key, workerName, expiresAt: Date.now() + lifetime };
    const { environmentId } = await platform.mutate(registerEnvironment, input);
    await move(environmentId, 'active');
    let closing: Promise<unknown> | undefined;
    return {
      environmentId,
      address: `http://${workerName}/`,
      async close() {
        shut();
        closing ??= move(environmentId, 'destroying').then(() => move(environmentId, 'destroyed'));
        await closing;
      },
    };
  } catch (error) {
    shut();
    throw error;
  }
}
