// The service itself as a server of the bench: as it is deployed, built and in a process of its own.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Launch } from './process.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Ends the process when it can't be built. */
export function buildService(): void {
  const build = spawnSync('npm', ['run', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (build.status !== 0) process.exit(1);
}

export interface ServiceSettings {
  databaseUrl: string;
  /** Its data folder, and where its log goes. */
  folder: string;
  secretKey: Buffer;
  /** From the sources, unbuilt: begins sooner, and answers as quickly. */
  fromSources?: boolean;
}

export const service = (
  { databaseUrl, folder, secretKey, fromSources = false }: ServiceSettings,
  more: Record<string, string> = {},
): Launch => ({
  name: 'the service',
  file: path.join(root, fromSources ? 'src/main.ts' : 'dist/main.js'),
  args: () => ['serve'],
  node: fromSources ? ['--import', 'tsx'] : [],
  env: (port: number) => ({
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SECRET_KEY: secretKey.toString('base64'),
    // The limiter counts and tells, but does not refuse.
    REQUESTS_PER_MINUTE: '10000000',
    REQUESTS_PER_MINUTE_ORGANIZATION: '100000000',
    ...more,
  }),
  output: path.join(folder, 'service.log'),
});
