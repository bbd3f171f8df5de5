// The service as a server of the bench: built and in a separate process, as in production.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Launch } from './process.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Builds the service; ends the process if that fails. */
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
  /** Folder of the service's data and log. */
  folder: string;
  secretKey: Buffer;
  /** Whether the service runs from its sources. The bench then needs no build, and the service is as fast as with a build. */
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
    // The rate limiter counts and reports requests, but refuses none.
    REQUESTS_PER_MINUTE: '10000000',
    REQUESTS_PER_MINUTE_ORGANIZATION: '100000000',
    REQUESTS_PER_MINUTE_RUNTIME: '100000000',
    ...more,
  }),
  output: path.join(folder, 'service.log'),
});
