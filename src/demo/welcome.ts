// The text that `npm start` prints at the end: the URLs and, if the demo exists, a sign-in link and a token for it.
import { presetScopes } from '#access/scopes.ts';
import { createToken } from '#domain/identity/tokens/operations.ts';
import { readRequirements } from '#domain/lifecycle/setup/requirements.ts';
import { pageOfSlug } from '#domain/organization/organizations/pages.ts';
import { Person } from '#domain/organization/people/model.ts';
import { createSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { ScheduledTask } from '#domain/work/recurring/model.ts';
import { addresses, baseUrl } from '#foundation/http/addresses.ts';
import { ownCell } from '#foundation/http/cells.ts';
import { mailboxAddress } from '#foundation/mail/mail.ts';
import { missionName } from './recurring-missions.ts';
import { demoCaller, demoOwner, demoProjects, findDemo, seedDemo } from './seed.ts';

/**
 * Seeds the demo if no account exists yet. In a cell the demo is not seeded, because the first start of a cell must not depend on another
 * cell. Every start creates a new token, which expires after a day.
 * @param hasModelKey whether the local runner has a model vendor's key
 */
export async function welcome(hasModelKey: boolean): Promise<string> {
  const { issuer, baseHost } = addresses();
  const lines = [
    `Console        ${issuer}/console`,
    `API            ${baseUrl()}`,
    `API reference  ${baseHost}/reference`,
    `GraphiQL       ${baseHost}/graphql`,
  ];
  const mailbox = mailboxAddress();
  if (mailbox) lines.push(`Mailbox        ${mailbox}`);
  if (ownCell() === null && !(await Person.find({}))) await seedDemo({ projects: demoProjects });
  const demo = await findDemo();
  if (!demo) return `\n${lines.join('\n')}\n`;
  const page = (path: string) => pageOfSlug(demo.organization.slug, path);
  const caller = demoCaller(demo.owner, demo.organization);
  const scopes = presetScopes('docs', caller.scopes);
  const { token } = await createToken(caller, { name: 'First steps', scopes, expiresInDays: 1 });
  const authorization = `-H 'Authorization: Bearer ${token}'`;
  lines.push(
    '',
    `Sign in as ${demoOwner} (one use, ten minutes):`,
    `  ${await createSignInLink(demoOwner)}`,
    'Call the API with a token of the demo organization (one day):',
    `  curl ${authorization} ${baseUrl()}/projects`,
  );
  const unmet = (await readRequirements(demo.organization.id)).filter(({ isMet }) => !isMet);
  // The model is not missing if a local runner has the key of a model vendor. The runner reports its keys with its first claim, which may
  // come later than this check.
  const missing = unmet.filter(({ id }) => id !== 'model' || !hasModelKey);
  const names = { model: 'a model', source_host: 'a source host with credentials' };
  if (missing.length > 0)
    lines.push(`Agents: connect ${missing.map(({ id }) => names[id]).join(' and ')} at ${page('/integrations')}`);
  const task = await ScheduledTask.find({ orgId: demo.organization.id, name: missionName });
  if (task) {
    lines.push(
      `Run the mission "${missionName}" now and watch it at ${page('/overview')}:`,
      `  curl -X POST ${authorization} ${baseUrl()}/scheduled-tasks/${task.id}/run`,
      `The response holds the runId; the page of the mission is ${page('/runs/{runId}')}`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}
