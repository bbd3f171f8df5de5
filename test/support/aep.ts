// `aep` inside the process of the test: each command evaluates the bundled program anew, with a separate `process` object. A separate process for each command would take ten times the CPU time.
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { compileFunction } from 'node:vm';
import { build } from 'rolldown';
import { projectFolder } from './processes.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that ends the process. */
class Exit extends Error {}

/** A stream that is not a terminal, and the text written to it. */
function openOutput() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

/** Compiles the program; the returned function runs one command. */
export async function openAep() {
  const entry = `export { createProgram } from './clients/cli/src/program.ts'; export { endWithError } from './clients/cli/src/output.ts';`;
  const { output } = await build({
    cwd: projectFolder,
    input: 'aep',
    platform: 'node',
    write: false,
    plugins: [
      {
        name: 'aep',
        resolveId: (id) => (id === 'aep' ? path.join(projectFolder, 'aep.ts') : null),
        load: (id) => (id === path.join(projectFolder, 'aep.ts') ? entry : null),
      },
    ],
    output: { format: 'cjs' },
  });
  const evaluate = compileFunction(output[0].code, ['process', 'require', 'exports', 'module']);
  const required = createRequire(import.meta.url);
  return async (args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<Ended> => {
    const [stdout, stderr] = [openOutput(), openOutput()];
    const own = Object.assign(new EventEmitter(), {
      ...{ env, argv: [process.execPath, 'aep', ...args], execArgv: [], pid: process.pid, platform: process.platform },
      ...{ stdin: Readable.from([input]), stdout: stdout.stream, stderr: stderr.stream, versions: process.versions },
      exitCode: 0,
      exit(code: number) {
        own.exitCode = code;
        throw new Exit();
      },
    });
    const exports: {
      createProgram?: () => { parseAsync(): Promise<unknown> };
      endWithError?: (...rest: unknown[]) => void;
    } = {};
    evaluate(own, (name: string) => (name === 'node:process' ? own : required(name)), exports, { exports });
    try {
      await exports.createProgram!().parseAsync();
    } catch (error) {
      if (!(error instanceof Exit)) exports.endWithError!(error, args.includes('--json'));
    }
    return { code: own.exitCode, stdout: stdout.text(), stderr: stderr.text() };
  };
}
