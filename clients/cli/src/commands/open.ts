// Pages of the console.
import { openBrowser } from '../browser.ts';
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, serviceUrl, UserError } from '../session.ts';

/** Pages by the prefix of an id. */
const pages: Record<string, string> = {
  run: 'runs',
  prj: 'projects',
  sch: 'tasks',
  aut: 'automations',
  sbx: 'sandboxes',
  agn: 'agents',
  iss: 'issues',
};

/** The address of the pages of the credential's organization. If its slug cannot be read for lack of a scope, the console redirects. */
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

export async function open(options: CommonOptions & { browser: boolean }, id?: string): Promise<void> {
  const page = id ? await pageOf(options, id) : await consoleOf(options);
  if (options.json) return printJson({ url: page });
  printLine(page);
  if (options.browser && process.stdout.isTTY) openBrowser(page);
}
