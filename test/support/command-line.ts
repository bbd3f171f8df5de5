// The operator's command line as a separate process with its own environment.
import { execFile } from 'node:child_process';
import { programArguments, projectFolder } from './processes.ts';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs one command to its end; `input` is piped in. */
export function admin(args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const settings = { cwd: projectFolder, env: { PATH: process.env.PATH, ...env } };
    const child = execFile(
      process.execPath,
      [...programArguments('admin'), ...args],
      settings,
      (error, stdout, stderr) => resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr }),
    );
    child.stdin!.end(input);
  });
}
