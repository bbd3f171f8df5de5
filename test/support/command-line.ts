// The operator's command line as the operator meets it: a process with an environment of its own.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DatabaseConnection } from '#foundation/embedded/database.ts';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs one command to its end; `input` is piped in. */
export function admin(args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const node = ['--conditions=source', '--import', 'tsx', 'src/admin.ts', ...args];
    const settings = { cwd: root, env: { PATH: process.env.PATH, ...env } };
    const child = execFile(process.execPath, node, settings, (error, stdout, stderr) =>
      resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr }),
    );
    child.stdin!.end(input);
  });
}

/** A DATABASE_URL; the cluster of the tests listens on a Unix socket. */
export function databaseUrl({ host, port, user, password, database }: DatabaseConnection): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user, password })}`;
}
