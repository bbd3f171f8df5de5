// The erasure of a former member or an invited person.
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

const lost =
  'In the audit log, their network and email addresses, names and browsers can never be read again. Recordings of missions that they ' +
  'started and invites to them are deleted, and their name in messages, reviews and comments is replaced.';

export async function erase(options: CommonOptions & { yes?: boolean }, person: string): Promise<void> {
  if (!options.yes) throw new UserError(`${lost} This cannot be undone. Repeat the command with --yes.`);
  const client = await openClient(options.url);
  const { orgId } = await client.me();
  if (!orgId) throw new UserError('The token belongs to no organization.');
  const erasure = await client.erasePerson({ orgId, person });
  if (options.json) return printJson(erasure);
  const { personId, erasedAt, invites, recordings } = erasure;
  printLine(
    `${personId} was erased on ${new Date(erasedAt).toISOString()}. Deleted now: ${invites} invites, ${recordings} recordings.`,
  );
}
