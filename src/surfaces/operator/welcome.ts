// What `npm start` says at the end: where everything is and, as long as the demo is the only organization, the way into it.
import { scopesOfRole } from '#access/scopes.ts';
import { Organization } from '#domain/organizations/model.ts';
import { Person } from '#domain/people/model.ts';
import { createSignInLink } from '#domain/people/sign-in.ts';
import { createToken } from '#domain/tokens/operations.ts';
import { addresses, baseUrl } from '#foundation/addresses.ts';
import { readOne } from '#foundation/record.ts';
import { demoOwner, demoProjects, demoSlug, seedDemo } from './demo.ts';

/** Seeds the demo when nobody has an account yet. The token lives a day; every start makes a new one. */
export async function welcome(): Promise<string> {
  const { issuer, baseHost } = addresses();
  const lines = [
    `Console        ${issuer}/console`,
    `API            ${baseUrl()}`,
    `API reference  ${baseHost}/reference`,
    `GraphiQL       ${baseHost}/graphql`,
  ];
  if (!(await readOne<Person>(Person, {}))) await seedDemo({ projects: demoProjects });
  const owner = await readOne<Person>(Person, { email: demoOwner });
  const organization = await readOne<Organization>(Organization, { slug: demoSlug });
  if (owner && organization?.createdByUserId === owner.id) {
    const token = await demoToken(owner, organization);
    lines.push(
      '',
      `Sign in as ${demoOwner} (one use, ten minutes):`,
      `  ${await createSignInLink(demoOwner)}`,
      'Call the API with a token of the demo organization (one day):',
      `  curl -H 'Authorization: Bearer ${token}' ${baseUrl()}/projects`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}

async function demoToken(owner: Person, organization: Organization): Promise<string> {
  const scopes = scopesOfRole('owner');
  const caller = {
    principalType: 'cookie',
    credentialId: 'welcome',
    userId: owner.id,
    orgId: organization.id,
    role: 'owner',
    scopes,
    projectId: null,
  } as const;
  // A token holds 25 scopes at most: those that change what is billed are left to the console.
  const chosen = [...scopes].filter((scope) => !scope.startsWith('billing:'));
  const { token } = await createToken(caller, { name: 'First steps', scopes: chosen, expiresInDays: 1 });
  return token;
}
