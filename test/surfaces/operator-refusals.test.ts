// Options of the operator’s commands, their help, and rejected commands.
import { afterAll, describe, expect, it } from 'vitest';
import { readOptions, usage } from '#surfaces/operator/command.ts';
import { commands } from '#surfaces/operator/commands.ts';
import { createOwner } from '../support/callers.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
await createOwner(world, 'Alice', 'Acme');
afterAll(() => world.close());

/** A command in this process. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
async function ask(name: string, ...args: string[]): Promise<any> {
  const one = commands[name]!;
  return one.run(readOptions(one, args), { readInput: async () => '' } as never);
}

describe('Options of operator’s commands', () => {
  const read = (name: string, ...args: string[]) => readOptions(commands[name]!, args) as unknown;
  const email = ['--email', 'a@b.c'];
  const forToken = [...email, '--org', 'acme', '--scopes', 'all'];

  it('options of an operator’s command are parsed, with defaults for omitted ones', () => {
    expect(read('token:create', ...forToken)).toEqual({
      email: 'a@b.c',
      org: 'acme',
      scopes: ['all'],
      days: 90,
      name: 'Created by the operator',
    });
    expect(read('token:create', ...email, '--org=acme', '--scopes=a, b', '--days=1', '--project=prj_1')).toMatchObject({
      scopes: ['a', 'b'],
      days: 1,
      project: 'prj_1',
    });
    expect(read('demo:seed')).toEqual({ projects: 5 });
    expect(read('demo:seed', '--projects', '0')).toEqual({ projects: 0 });
    expect(read('demo:seed', '--projects=1000000')).toEqual({ projects: 1_000_000 });
    expect(read('migrate')).toEqual({});
  });

  it('the help shows each option in the form in which it is typed, and brackets around optional ones', () => {
    expect(usage(commands['token:create']!)).toBe(
      '--email EMAIL --org ORG --scopes SCOPES [--project PROJECT] [--days DAYS] [--name NAME]',
    );
    expect(usage(commands['integration:create']!)).toContain('[--credentials-stdin]');
    expect(usage(commands.migrate!)).toBe('');
  });

  it.each<[string, string[], string]>([
    ['person:create', ['--emial', 'x'], "Unknown option '--emial'"],
    ['person:create', ['a@b.c'], "Unexpected argument 'a@b.c'"],
    ['person:create', ['--email'], "Option '--email <value>' argument missing"],
    ['person:create', ['--email', '--name', 'x'], "Option '--email' argument is ambiguous"],
    ['credits:grant', ['--org', 'acme', '--credits', '-5'], '--credits: must be an integer'],
    ['person:create', [...email, ...email], '--email: must be given only once'],
    ['person:create', ['--email', 'nobody'], '--email: must be an email address'],
    ['person:create', [...email, '--name', ''], '--name: must be at least 1 character'],
    ['person:create', [...email, '--name', 'x'.repeat(121)], '--name: must be at most 120 characters'],
    [
      'org:create',
      ['--name', 'x', '--owner', 'a@b.c', '--slug', 'A b'],
      '--slug: must be lower-case letters, digits and hyphens',
    ],
    [
      'member:add',
      [...email, '--org', 'acme', '--role', 'boss'],
      '--role: must be one of "owner", "admin", "member", "viewer"',
    ],
    ['token:create', [...forToken, '--days', '0'], '--days: must be at least 1'],
    ['token:create', [...forToken, '--days', '366'], '--days: must be at most 365'],
    ['token:create', [...forToken, '--days', '1.5'], '--days: must be an integer'],
    ['token:create', [...forToken, '--days', '-1'], '--days: must be an integer'],
    ['token:create', [...forToken, '--days=-1'], '--days: must be an integer'],
    ['token:create', [...forToken, '--name', 'x'.repeat(101)], '--name: must be at most 100 characters'],
    ['demo:seed', ['--projects', '1000001'], '--projects: must be at most 1000000'],
    ['demo:seed', ['--projects', ''], '--projects: must be an integer'],
    [
      'integration:create',
      ['--org', 'acme', '--vendor', 'jira', '--name', 'x'],
      '--vendor: must be one of "linear", "github", "gitlab", "builtin", "anthropic", "openai"',
    ],
    ['integration:create', ['--credentials-stdin=x'], "Option '--credentials-stdin' does not take an argument"],
    ['migrate', ['--all'], "Unknown option '--all'"],
    ['database:move', ['--to', 'mysql://db/app'], '--to: must be postgres://user:password@host:port/database'],
    ['org:create', [], '--name: is required\n--owner: is required'],
  ])('invalid options are refused with the reason: %s %j', (name, args, message) => {
    expect(() => read(name, ...args)).toThrow(new Error(message));
  });
});

describe('Refusals of operator’s commands', () => {
  it.each<[string, string[], string]>([
    [
      'an unknown organization',
      ['member:add', '--org', 'nobody', '--email', 'a@b.c', '--role', 'viewer'],
      '--org: no organization has the slug nobody',
    ],
    [
      'a person who is already a member',
      ['member:add', '--org', 'acme', '--email', 'alice@example.com', '--role', 'viewer'],
      'alice@example.com is already a member of acme',
    ],
    [
      'a person who is not a member',
      ['token:create', '--org', 'acme', '--email', 'a@b.c', '--scopes', 'all'],
      '--email: a@b.c is not a member of acme; member:add adds them',
    ],
    [
      'a slug that is taken',
      ['org:create', '--name', 'X', '--owner', 'alice@example.com', '--slug', 'acme'],
      'slug: "acme" is taken; ask GET /organizations/slug-availability.',
    ],
    [
      'an unknown project',
      [
        'token:create',
        '--org',
        'acme',
        '--email',
        'alice@example.com',
        '--scopes',
        'projects:read',
        '--project',
        'prj_1',
      ],
      'No such project.',
    ],
    [
      'an undeclared scope',
      ['token:create', '--org', 'acme', '--email', 'alice@example.com', '--scopes', 'projects:read, rockets:launch'],
      'The credential lacks missing-scope:rockets:launch.',
    ],
    [
      'an empty standard input',
      ['integration:create', '--org', 'acme', '--vendor', 'linear', '--name', 'L', '--credentials-stdin'],
      '--credentials-stdin: standard input is empty',
    ],
    ['an unknown service token', ['service-token:revoke', '--id', 'svc_1'], 'No such service token.'],
  ])('an operator’s command refuses %s', async (_, [name, ...args], message) => {
    await expect(ask(name!, ...args)).rejects.toMatchObject({ message });
  });

  it('integration:create requires --kind for a vendor of two kinds, and refuses a kind that the vendor does not have', async () => {
    const connect = (...kind: string[]) =>
      ask('integration:create', '--org', 'acme', '--vendor', 'github', '--name', 'GitHub', ...kind);
    await expect(connect()).rejects.toThrow('--kind: must be one of tracker, scm for github');
    await expect(connect('--kind', 'llm')).rejects.toMatchObject({ status: 400 });
    expect(await connect('--kind', 'scm')).toMatchObject({ vendor: 'github', vendorKind: 'scm', externalOrgId: null });
  });

  it('demo:seed writes nothing when another organization already has the name of the demo', async () => {
    await world.knex('organizations').where({ slug: 'demo' }).update({ slug: 'demo-before' });
    await createOwner(world, 'Mallory', 'Demo');
    const projects = await world.knex('projects').count();
    await expect(ask('demo:seed')).rejects.toThrow('belongs to another organization');
    expect(await world.knex('projects').count()).toEqual(projects);
  });
});
