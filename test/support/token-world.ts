// Two organizations with one project each. A person in one of the organizations creates, lists and revokes personal access tokens.
import type { OrgRole } from '#access/roles.ts';
import { createOwner, createProject } from './callers.ts';
import { openWorld } from './world.ts';

export async function openTokenWorld() {
  const world = await openWorld();
  const { person: alice, organization: acme, token } = await createOwner(world, 'Alice', 'Acme');
  const mallory = await createOwner(world, 'Mallory', 'Globex');
  const projectId = await createProject(world, { token }, 'Shop');
  const foreignProjectId = await createProject(world, mallory, 'Shop');
  const alicesSession = await world.session(alice, acme.id);
  let joined = 0;

  return {
    world,
    alice,
    acme,
    /** Every scope that an owner may grant. */
    ownerToken: token,
    projectId,
    globex: mallory.organization,
    foreignProjectId,
    alicesSession,
    create: (body: unknown, session = alicesSession) => world.rest('POST', '/tokens', { session, body }),
    list: (session = alicesSession) => world.rest('GET', '/tokens', { session }),
    revoke: (id: string, session = alicesSession) => world.rest('DELETE', `/tokens/${id}`, { session }),
    /** A new member of Acme with this role, and a session in it. `createMember` would also create a token. */
    async member(role: OrgRole) {
      const person = await world.person(`Member${++joined}`);
      await world.join(acme, person, role);
      return { person, session: await world.session(person, acme.id) };
    },
    close: () => world.close(),
  };
}
