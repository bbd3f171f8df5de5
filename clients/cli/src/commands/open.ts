// The command `aep open`. It opens a page of the console in the browser, or starts the program of the service to show an organization file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import packageFile from '../../package.json' with { type: 'json' };
import { openBrowser } from '../browser.ts';
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, serviceUrl, UserError } from '../session.ts';

/** The part of a page's address that belongs to each id prefix: the page of `run_1` is /runs/run_1. */
const pages: Record<string, string> = {
  run: 'runs',
  prj: 'projects',
  sch: 'tasks',
  aut: 'automations',
  sbx: 'sandboxes',
  agn: 'agents',
  iss: 'issues',
};

/** The base URL of the console pages of the credential's organization. If its slug cannot be read for lack of a scope, the console redirects. */
export async function consoleOf(options: CommonOptions): Promise<string> {
  const url = await serviceUrl(options.url);
  try {
    const client = await openClient(options.url);
    const { me } = await client.graphql<{ me: { organization: { slug: string } } }>('{ me { organization { slug } } }');
    return `${url}/console/o/${me.organization.slug}`;
  } catch {
    return `${url}/console`;
  }
}

export async function pageOf(options: CommonOptions, id: string): Promise<string> {
  const page = pages[id.split('_', 1)[0]!];
  if (!page)
    throw new UserError(`${id} has no page. Ids of records with a page begin with ${Object.keys(pages).join(', ')}.`);
  return `${await consoleOf(options)}/${page}/${encodeURIComponent(id)}`;
}

/** The command of the service. Its npm package contains PostgreSQL and the console. */
const service = 'agent-engineering-platform';

/**
 * Shows the file until the user presses Ctrl-C. The terminal sends the signal to both programs, so this program ignores it and waits for the
 * other program to exit.
 */
async function openFile(file: string): Promise<void> {
  process.on('SIGINT', () => {});
  const options = { stdio: 'inherit', env: process.env, shell: process.platform === 'win32' } as const;
  const child = spawn(service, ['open', file], options);
  const [code] = await once(child, 'exit').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new UserError(
      `To open a file, install the package of the service once, from a file of its release: npm install --global ./${service}-${packageFile.version}.tgz. Opening a file needs no network.`,
    );
  });
  process.exitCode = code ?? 1;
}

export async function open(options: CommonOptions & { browser: boolean }, id?: string): Promise<void> {
  if (id !== undefined && existsSync(id)) return openFile(id);
  const page = id ? await pageOf(options, id) : await consoleOf(options);
  if (options.json) return printJson({ url: page });
  printLine(page);
  if (options.browser && process.stdout.isTTY) openBrowser(page);
}
