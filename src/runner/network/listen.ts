// Opens the runner's servers to which programs of a mission connect.
import { chmod } from 'node:fs/promises';
import type { Server } from 'node:net';

/** Resolves when the server listens. @param socket A path; null means a loopback port. */
export async function listenOn(server: Server, socket: string | null): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (socket) server.listen(socket, resolve);
    else server.listen(0, '127.0.0.1', resolve);
  });
  // The program in the cell or container may run as another user, which can reach only its own folder.
  if (socket) await chmod(socket, 0o666);
}
