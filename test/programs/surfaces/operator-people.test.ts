// The operator's commands that change, remove and list people, end their sessions, and list credentials. The help texts of all commands are tested
// here as well.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerAnonymous } from '#domain/identity/agent-identities/register.ts';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { helpOf, helpOfAll, invocation, readOptions, requestedHelp } from '#surfaces/operator/command.ts';
import { commands } from '#surfaces/operator/commands.ts';
import { version } from '../../../src/services.ts';
import { createMember, createOwner } from '../../support/callers.ts';
import { admin } from '../../support/command-line.ts';
import { openWorld, present, type World } from '../../support/world.ts';

let world: World;
let alice: Person;
let bob: Person;
let acme: Organization;

beforeAll(async () => {
  world = await openWorld();
  // `createOwner` would also create a token, and a test lists the tokens of Alice.
  alice = await world.person('Alice');
  acme = await world.found(alice, 'Acme');
  ({ person: bob } = await createMember(world, acme, 'Bob', 'admin'));
});
afterAll(() => world.close());

/** Runs a command with its options as a person types them in a shell, and returns the result. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
const run = (name: string, ...args: string[]): Promise<any> => {
  const one = commands[name]!;
  return one.run(readOptions(one, args), {} as never);
};
const of = (email: string) => ['--org', 'acme', '--email', email];
const opens = async (token: string) => (await world.rest('GET', '/me', { token })).status;

describe('Members', () => {
  it('member:role changes a role, but not that of the last owner', async () => {
    expect(await run('member:role', ...of('Bob@Example.com'), '--role', 'viewer')).toEqual({
      orgId: acme.id,
      userId: bob.id,
      role: 'viewer',
      createdAt: expect.any(Number),
      closedAt: null,
    });
    await expect(run('member:role', ...of(alice.email), '--role', 'admin')).rejects.toThrow(
      'An organization needs an owner',
    );
    await run('member:role', ...of(bob.email), '--role', 'admin');
  });

  it('member:remove ends the member’s access, and says when an email address has no account', async () => {
    const { person: carol, token } = await createMember(world, acme, 'Carol', 'member');
    expect(await run('member:remove', ...of(carol.email))).toEqual({ ok: true });
    expect(await opens(token)).toBe(401);
    await world.join(acme, carol, 'member');
    expect(await opens(token)).toBe(401);
    await run('member:remove', ...of(carol.email));
    await expect(run('member:remove', ...of(carol.email))).rejects.toThrow('No such membership.');
    await expect(run('member:remove', ...of('nobody@example.com'))).rejects.toThrow(
      '--email: nobody@example.com has no account',
    );
    await expect(run('member:remove', ...of(alice.email))).rejects.toThrow('An organization needs an owner');
  });
});

describe('People', () => {
  it('person:disable ends tokens and sessions, and person:enable readmits the person', async () => {
    const [token, session] = [await world.token(bob, acme), await world.session(bob)];
    expect(await run('person:disable', '--email', bob.email)).toMatchObject({ id: bob.id, disabledAt: present() });
    expect(await opens(token)).toBe(401);
    expect((await world.rest('GET', '/me', { session })).status).toBe(401);
    await expect(run('token:create', ...of(bob.email), '--scopes', 'all')).rejects.toThrow(
      `--email: the account of ${bob.email} is disabled; person:enable enables it`,
    );
    expect(await run('person:enable', '--email', bob.email)).toMatchObject({ id: bob.id, disabledAt: null });
    expect(await opens(token)).toBe(401);
    expect((await world.rest('GET', '/me', { session: await world.session(bob) })).status).toBe(200);
  });

  it('person:list and org:list show people and their organizations', async () => {
    await world.person('Nomad');
    // Accounts that were created in the same millisecond are listed in the order of their random ids, so the test sorts them.
    const members = await run('person:list', '--org', 'acme');
    expect(members.sort((a: Person, b: Person) => a.email.localeCompare(b.email))).toEqual([
      expect.objectContaining({ email: alice.email, memberships: [{ org: 'acme', role: 'owner' }] }),
      expect.objectContaining({ email: bob.email, disabledAt: null, memberships: [{ org: 'acme', role: 'admin' }] }),
    ]);
    expect((await run('person:list')).map(({ email }: Person) => email)).toContain('nomad@example.com');
    expect(await run('person:list', '--limit', '1')).toHaveLength(1);
    expect(await run('person:list', '--org', 'nowhere')).toEqual([]);
    expect(await run('org:list')).toEqual([
      { id: acme.id, slug: 'acme', name: 'Acme', createdAt: acme.createdAt, members: 2, owners: [alice.email] },
    ]);
    for (const name of ['Zoo', 'Bay']) await createOwner(world, alice, name);
    const [{ memberships }] = await run('person:list', '--org', 'bay');
    expect(memberships.map(({ org }: { org: string }) => org)).toEqual(['acme', 'bay', 'zoo']);
  });

  it('session:revoke ends one session or all sessions of a person', async () => {
    const dora = await world.person('Dora');
    const sessions = [await world.session(dora), await world.session(dora), await world.session(dora)];
    const list = await run('session:list', '--email', dora.email);
    expect(list).toHaveLength(3);
    expect(JSON.stringify(list)).not.toContain('digest');
    expect(await run('session:revoke', '--email', dora.email, '--session', list[0].id)).toEqual({ ended: 1 });
    await expect(run('session:revoke', '--email', dora.email, '--session', list[0].id)).rejects.toThrow('--session: ');
    expect(await run('session:revoke', '--email', dora.email)).toEqual({ ended: 2 });
    for (const session of sessions) expect((await world.rest('GET', '/me', { session })).status).toBe(401);
  });
});

describe('Lists of credentials', () => {
  it('token:list, agent:list and service-token:list can be filtered, and show no secret', async () => {
    const token = await world.token(alice, acme, { scopes: ['projects:read'] });
    const agent = await registerAnonymous('Scout');
    const service = await createServiceToken({ name: 'Runtime', orgId: acme.id });
    const tokens = await run('token:list', ...of(alice.email));
    expect(tokens[0]).toEqual({
      id: expect.stringMatching(/^tok_/),
      org: 'acme',
      email: alice.email,
      name: 'test',
      scopes: ['projects:read'],
      projectId: null,
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
      lastUsedAt: null,
      revokedAt: null,
    });
    const agents = await run('agent:list');
    expect(agents[0]).toMatchObject({ id: agent.registrationId, agentName: 'Scout', org: null, claimedAt: null });
    expect(await run('agent:list', '--org', 'acme')).toEqual([]);
    const services = await run('service-token:list', '--org', 'acme');
    expect(services).toEqual([expect.objectContaining({ id: service.id, name: 'Runtime', org: 'acme' })]);
    const shown = JSON.stringify([tokens, agents, services]);
    for (const secret of [token, service.token, agent.claimToken, 'digest']) expect(shown).not.toContain(secret);
  });
});

describe('Help of the operator’s commands', () => {
  it.each(Object.entries(commands))('%s shows its purpose, its options and an example to type', (name, one) => {
    const words = (one.example.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ''));
    expect(() => readOptions(one, words)).not.toThrow();
    const help = helpOf(name, one);
    expect(help).toContain(one.about);
    expect(help).toContain(`  npm run --silent admin -- ${`${name} ${one.example}`.trim()}`);
    for (const option of Object.keys(one.options.shape)) {
      expect(help).toMatch(new RegExp(`^  --${option}\\n      [A-Z0-9\`].+\\.$`, 'm'));
    }
  });

  it('--help, -h and help COMMAND ask for the help of a command; an unknown command is named', () => {
    const help = helpOf('member:role', commands['member:role']!);
    const asked = [
      ['member:role', '--help'],
      ['member:role', '--org', 'acme', '-h'],
      ['help', 'member:role'],
    ];
    for (const [name, ...args] of asked) expect(requestedHelp(commands, name!, args)).toBe(help);
    expect(requestedHelp(commands, 'help', [])).toBe(helpOfAll(commands));
    expect(requestedHelp(commands, 'member:role', ['--org', 'help'])).toBeNull();
    expect(() => requestedHelp(commands, 'member:king', ['--help'])).toThrow(
      'There is no command member:king; help lists the commands.',
    );
  });

  it('the help and the release are printed by the program without settings or a database', async () => {
    // The help names the program that was called.
    const help = helpOf('member:role', commands['member:role']!).replaceAll(invocation, 'node dist/admin.js');
    const printed = await admin(['member:role', '--help'], { PORT: 'nonsense' });
    expect(printed).toEqual({ code: 0, stdout: `${help}\n`, stderr: '' });
    expect(await admin(['--version'], {})).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
