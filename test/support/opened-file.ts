// The command `open`, which shows the organization that an organization file contains, in a process without any settings.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Browser, browserOf, visitPage } from './cookie-browser.ts';
import { programArguments, projectFolder } from './processes.ts';
import { requestsTo } from './requests.ts';

/** Starts the program. The test writes only the key of the file to its standard input. @param folder Its temporary folder */
export function startOpening(file: string, key: string, folder: string): ChildProcess {
  const env = { PATH: process.env.PATH, TMPDIR: folder };
  const args = [...programArguments('main'), 'open', file];
  const child = spawn(process.execPath, args, { cwd: projectFolder, env, stdio: 'pipe' });
  child.stdin!.end(key);
  return child;
}

/** The lines that the program prints until the console can be opened. */
export async function linesOf(program: ChildProcess): Promise<string[]> {
  program.stderr!.pipe(process.stderr);
  const lines: string[] = [];
  for await (const line of createInterface({ input: program.stdout! })) {
    lines.push(line);
    if (line.startsWith('Ctrl-C')) break;
  }
  return lines;
}

/** Follows the link that the program has printed, in a new browser. */
export async function signInWith(lines: readonly string[]) {
  const link = new URL(/https?:\S+token=\S+/.exec(lines[1]!)![0]);
  const request = requestsTo(link.origin);
  const browser: Browser = browserOf();
  const visit = (path: string, form?: Record<string, string>) => visitPage({ request }, browser, path, form);
  const asked = await visit(link.pathname + link.search);
  const entered = await visit('/sign-in/link', { token: link.searchParams.get('token')! });
  return { request, browser, visit, statuses: [asked.status, entered.status] };
}
