// The callers that most tests need: the owner and a viewer of Acme, and a stranger, who owns another organization and does not find Acme's
// records.
import type { OrgRole } from '#access/roles.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import type { Id } from '#foundation/ids.ts';
import type { Place } from './runtime-records.ts';
import type { Ask, World } from './world.ts';

/** A member of an organization, with a personal access token with every scope that the role allows. */
export interface Account {
  person: Person;
  organization: Organization;
  token: string;
}

type Founding = Pick<World, 'person' | 'found' | 'join' | 'token'>;

/** Creates an organization with its owner: an existing person, or a new one with the name that is passed. */
export async function createOwner(world: Founding, who: string | Person, organizationName: string): Promise<Account> {
  const person = typeof who === 'string' ? await world.person(who) : who;
  const organization = await world.found(person, organizationName);
  return { person, organization, token: await world.token(person, organization) };
}

/** Adds a member to an organization: an existing person, or a new one with the name that is passed. */
export async function createMember(
  world: Founding,
  organization: Organization,
  who: string | Person,
  role: OrgRole,
): Promise<Account> {
  const person = typeof who === 'string' ? await world.person(who) : who;
  await world.join(organization, person, role);
  return { person, organization, token: await world.token(person, organization) };
}

/** Creates a project in the caller's organization and returns its id; `fields` are further members of the request body. */
export async function createProject(
  world: Pick<World, 'rest'>,
  { token, session, headers }: Pick<Ask, 'token' | 'session' | 'headers'>,
  name: string,
  fields: object = {},
): Promise<Id<'project'>> {
  const body = { name, repoFullName: `acme/${name.toLowerCase().replaceAll(' ', '-')}`, ...fields };
  const answer = await world.rest('POST', '/projects', { token, session, headers, body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

export interface Callers {
  owner: Account;
  viewer: Account;
  stranger: Account;
}

export async function createCallers(world: World): Promise<Callers> {
  const owner = await createOwner(world, 'Alice', 'Acme');
  const viewer = await createMember(world, owner.organization, 'Dave', 'viewer');
  const stranger = await createOwner(world, 'Mallory', 'Globex');
  return { owner, viewer, stranger };
}

export interface CallersWithProjects extends Callers {
  /** Two projects of the owner. */
  shop: Place;
  other: Place;
  /** A project of the stranger. */
  foreign: Place;
  /** A token of the owner. The token is valid only for the project `shop`. */
  projectToken: string;
}

export async function createCallersWithProjects(world: World): Promise<CallersWithProjects> {
  const callers = await createCallers(world);
  const { owner, stranger } = callers;
  const place = async (account: Account, name: string): Promise<Place> => ({
    orgId: account.organization.id,
    projectId: await createProject(world, account, name),
  });
  const [shop, other] = [await place(owner, 'Shop'), await place(owner, 'Other')];
  const foreign = await place(stranger, 'Foreign');
  const projectToken = await world.token(owner.person, owner.organization, { projectId: shop.projectId });
  return { ...callers, shop, other, foreign, projectToken };
}
