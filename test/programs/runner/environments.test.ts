// Environments of missions, from their setup to the next mission that starts in them, and the store of prepared environments.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { newAccount } from '../../../src/runner/isolation/accounts.ts';
import { socketsOf } from '../../../src/runner/isolation/cell.ts';
import { openImageStore } from '../../../src/runner/isolation/image-store.ts';
import { makePlace } from '../../../src/runner/isolation/place.ts';
import { openEgressProxy } from '../../../src/runner/network/egress-proxy.ts';
import { createMask } from '../../../src/runner/text.ts';
import { openPrepared } from '../../../src/runner/workspace/prepared.ts';
import { look, openEnvironmentRuns } from '../../support/environment-runs.ts';
import { runningCommands } from '../../support/processes.ts';

const {
  folder,
  git,
  asked,
  registryHost,
  apiHost,
  leaked,
  download,
  environmentOf,
  capabilitiesFor,
  run,
  call,
  attack,
  close,
  check,
} = await openEnvironmentRuns();
afterAll(close);
afterEach(check);

let daemonCount = 0;

describe.each(['cell', 'container'])('an environment in a %s', (level) => {
  it('an environment is set up once, with its own network and secrets; the next mission starts in it', async ({
    skip,
  }) => {
    const capabilities = await capabilitiesFor(level);
    if (!capabilities) return skip(`there is no ${level} on this machine`);
    const first = await run(capabilities, environmentOf(), look);
    expect(first.failure).toBe('');
    expect(first.printed).toMatch(/^42\nblue \[\]\n\/\S+\/home\/tool\nsame\n$/);
    expect(first.preparations.map(({ status }) => status)).toEqual(['preparing', 'ready']);
    expect(first.preparations.at(-1)!.lastLines).toBe('setting up with [secret]\n');
    expect(first.connections).toEqual([
      expect.objectContaining({
        host: 'registry.test',
        phase: 'setup',
        verdict: 'allowed',
        count: 1,
        programs: ['node'],
      }),
    ]);
    expect(asked).toEqual(['/answer']);

    const second = await run(capabilities, environmentOf(), `${look}; ${download('more', 'more.js')}`);
    expect(second.printed).toMatch(/^42\nblue \[\]\n\S+tool\nsame\n403 /);
    expect(second.preparations).toMatchObject([{ status: 'ready', seconds: 0 }]);
    expect(second.connections).toMatchObject([
      { host: 'registry.test', phase: 'agent', verdict: 'blocked', programs: ['node'] },
    ]);
    expect(asked).toEqual(['/answer']);

    // Nothing is shared with another organization, nor with another setup.
    const other = await run(capabilities, environmentOf(), 'true', 'org_2');
    expect(other.preparations.map(({ status }) => status)).toEqual(['preparing', 'ready']);
    const changed = environmentOf({ setupScript: 'cat ~/.npm/_cacache/index' });
    expect((await run(capabilities, changed, 'ls node_modules')).printed).toContain('No such file');
  });

  it('an environment replaces the placeholder of a secret by the value in requests to the hosts of the secret, even if an earlier setup wrote the placeholder to a file', async ({
    skip,
  }) => {
    const capabilities = await capabilitiesFor(level, `${level}-hosts`);
    if (!capabilities) return skip(`there is no ${level} on this machine`);
    const secret = { name: 'API_KEY', value: 'the-real-value', hosts: [apiHost], setupOnly: false };
    const network = { mode: 'custom', hosts: [apiHost] } as const;
    const environment = environmentOf({
      setupScript: `echo "$API_KEY" > ~/token; ${call('$(cat ~/token)')}`,
      secrets: [secret],
      setupNetwork: { ...network, hosts: [apiHost] },
      agentNetwork: { ...network, hosts: [apiHost] },
    });
    const script = `echo "[$API_KEY] $(cat ~/token)"; ${call('$API_KEY')}; ${call('$(cat ~/token)')}`;
    const first = await run(capabilities, environment, script);
    expect([first.failure, first.printed]).toEqual(['', expect.stringMatching(/^\[(placeholder\w+)\] \1\n$/)]);
    expect(asked).toEqual(Array(3).fill('Bearer the-real-value'));
    const second = await run(capabilities, environment, script);
    expect(second.printed).toMatch(/^\[(placeholder\w+)\] (?!\1)placeholder\w+\n$/);
    expect(asked).toEqual(Array(5).fill('Bearer the-real-value'));
  });

  it('an environment lets a hostile program reach only hosts of its policy, and only through the proxy of its mission', async ({
    skip,
  }) => {
    const capabilities = await capabilitiesFor(level, `${level}-attacked`);
    if (!capabilities) return skip(`there is no ${level} on this machine`);
    const [ownAddress] = Object.values(networkInterfaces()).flatMap((all) => all!.filter(({ internal }) => !internal));
    const addresses = ['127.0.0.1', '::1', '169.254.169.254', '192.0.2.1', ...(ownAddress ? [ownAddress.address] : [])];
    const neighbour = await makePlace('', await newAccount());
    const proxy = await openEgressProxy(socketsOf(neighbour).egress, () => {}, capabilities.routes);
    proxy.set({ phase: 'agent', policy: { mode: 'open', hosts: [] } });
    const port = registryHost.split(':')[1];
    const own = ['127.0.0.1', '[::1]', 'localhost', 'localhost.', '2130706433', '0x7f.1', '[::ffff:7f00:1]'];
    const refused = [
      ...own.map((name) => `${name}:${port}`),
      ...['169.254.169.254:80', '10.0.0.1:80', 'private.test:443', 'rebind.test:443', 'xn--bcher-kva.test:443'],
    ];
    const names = [...refused, `REGISTRY.test.:${port}`];
    const hosts = [registryHost, apiHost, 'localhost', 'private.test', 'rebind.test', 'bücher.test'];
    const script = attack(addresses, socketsOf(neighbour).egress, names);
    const [custom, open] = await Promise.all(
      [
        { mode: 'custom' as const, hosts },
        { mode: 'open' as const, hosts: [] },
      ].map((agentNetwork) => run(capabilities, environmentOf({ setupScript: null, agentNetwork }), script)),
    );
    await proxy.close();
    await neighbour.remove();
    const allowed = [`CONNECT REGISTRY.test.:${port}`, `CONNECT ${apiHost}`];
    expect(JSON.parse(custom!.printed)).toEqual([...allowed, `Host ${registryHost}`]);
    // An open policy allows every public host. So in a tunnel to one host, a TLS client may ask for the server name of another host.
    expect(JSON.parse(open!.printed)).toEqual([...allowed, 'other SNI', `Host ${registryHost}`]);
    expect(leaked()).toBe(0);
    const verdicts = open!.connections.map(({ verdict, host }) => [host, verdict]);
    for (const name of ['127.0.0.1', 'localhost', '169.254.169.254', 'private.test', 'rebind.test'])
      expect(verdicts).toContainEqual([name, 'not_public']);
  });

  it('an environment cannot set variables that the runner reserves for its own programs', async ({ skip }) => {
    const capabilities = await capabilitiesFor(level);
    if (!capabilities) return skip(`there is no ${level} on this machine`);
    const variables = ['PATH', 'LD_PRELOAD', 'BASH_ENV', 'NODE_OPTIONS'].map((name) => ({ name, value: './x' }));
    const { log } = await run(capabilities, environmentOf({ setupScript: null, variables }), 'true');
    expect(log).toBe(
      'Variables that the runner reserves for its own programs are omitted: PATH, LD_PRELOAD, BASH_ENV.\n',
    );
  });

  it('an environment is prepared once for concurrent missions', async ({ skip }) => {
    const capabilities = await capabilitiesFor(level, `${level}-together`);
    if (!capabilities) return skip(`there is no ${level} on this machine`);
    const runs = await Promise.all([1, 2, 3].map(() => run(capabilities, environmentOf(), look)));
    expect(runs.map(({ printed }) => printed.startsWith('42\n'))).toEqual([true, true, true]);
    expect(asked).toEqual(['/answer']);
  });

  it('an environment is not stored when its setup fails; the error contains the last lines that the setup printed', async ({
    skip,
  }) => {
    const capabilities = await capabilitiesFor(level, `${level}-failing`);
    if (!capabilities) return skip(`there is no ${level} on this machine`);
    const failing = environmentOf({ setupScript: 'echo installing; echo no such package $TOKEN >&2; exit 3' });
    const { failure, preparations } = await run(capabilities, failing, 'true');
    expect(failure).toContain('The environment Node is not ready: exit code 3');
    expect(failure).toContain('no such package');
    expect(preparations.map(({ status }) => status)).toEqual(['preparing', 'failed']);
    expect(JSON.stringify(preparations)).not.toContain('top-secret');
    const blocked = environmentOf({ setupNetwork: { mode: 'packages', hosts: ['elsewhere.test'] } });
    expect(await run(capabilities, blocked, 'true')).toMatchObject({
      failure: expect.stringContaining('403 registry.test'),
      connections: [{ host: 'registry.test', phase: 'setup', verdict: 'blocked' }],
    });
    expect(asked).toEqual([]);
    const endless = await run(
      { ...capabilities, setupTimeoutMs: 300 },
      environmentOf({ setupScript: 'sleep 600' }),
      '',
    );
    expect(endless.failure).toContain('the setup took longer than');
    const number = `${process.pid}${++daemonCount}`;
    const daemons = environmentOf({ setupScript: `sleep ${number} & setsid sleep ${number} >/dev/null 2>&1 & exit 0` });
    expect((await run(capabilities, daemons, 'echo works')).printed).toBe('works\n');
    expect(runningCommands()).not.toContain(`sleep ${number}`);
    const loud = environmentOf({ setupScript: `head -c 3000000 /dev/zero | tr '\\0' y | fold -w 999` });
    expect((await run(capabilities, loud, 'true')).log.length).toBeLessThan(1_100_000);
  });
});

it('a mission that is canceled while it waits for the setup of another mission starts no setup', async () => {
  const capabilities = (await capabilitiesFor('none', 'canceled'))!;
  const { prepared } = capabilities;
  let [waiting, go] = [0, () => {}];
  const released = new Promise<void>((resolve) => {
    go = resolve;
  });
  const alone: typeof prepared.alone = (orgId, key, work) => {
    waiting++;
    return prepared.alone(orgId, key, () => released.then(work));
  };
  const [canceled, works] = [new AbortController(), new AbortController()];
  // A setup that fails is not kept, so the next mission in the queue runs its own setup.
  const [first, second] = [works, canceled].map(({ signal }) =>
    run(
      { ...capabilities, prepared: { ...prepared, alone } },
      environmentOf({ setupScript: 'exit 3' }),
      '',
      'org_1',
      signal,
    ),
  );
  await vi.waitFor(() => expect(waiting).toBe(2));
  canceled.abort();
  go();
  const statuses = (await first!).preparations.map(({ status }) => status);
  expect(statuses).toEqual(['preparing', 'failed']);
  expect(await second!).toMatchObject({ failure: 'The environment Node is not ready: stopped', preparations: [] });
});

it('devcontainer.json of the repository is applied, and its unsupported members are logged and reported', async ({
  skip,
}) => {
  const capabilities = await capabilitiesFor('cell', 'devcontainer');
  if (!capabilities) return skip('there is no cell on this machine');
  mkdirSync(path.join(folder, 'site/.devcontainer'));
  writeFileSync(
    path.join(folder, 'site/.devcontainer/devcontainer.json'),
    `{ // a comment with "quotes"
      "image": "node:22", /* more */ "features": {}, "containerEnv": { "FROM_REPO": "a // b", "X": "\${localEnv:HOME}", },
      "onCreateCommand": ["touch", "a b"], "postCreateCommand": { "one": "touch one", "two": ["touch", "it's"] },
    }`,
  );
  git('-C', 'site', 'add', '.');
  git('-C', 'site', 'commit', '-qm', 'devcontainer');
  const { log, printed, preparations } = await run(
    capabilities,
    environmentOf({ setupScript: null }),
    'echo $FROM_REPO; ls',
  );
  const notes = [
    'devcontainer.json: features, containerEnv.X has no effect here.',
    'The image of devcontainer.json is not used: this runner has no containers.',
  ];
  for (const note of notes) expect(log).toContain(note);
  expect(preparations.at(-1)).toMatchObject({ status: 'ready', notes });
  expect(printed).toBe("a // b\na b\nit's\none\npackage-lock.json\n");
  git('-C', 'site', 'revert', '--no-edit', 'HEAD');
});

it('an environment that is based on an image needs containers; a Dockerfile is built once, without a network', async ({
  skip,
}) => {
  const [cell, containers] = await Promise.all([capabilitiesFor('cell'), capabilitiesFor('container', 'images')]);
  const image = environmentOf({ base: 'image', image: 'localhost/base:node', setupScript: null });
  if (cell)
    expect((await run(cell, image, 'true')).failure).toBe(
      'The environment Node is not ready: its base is an image, but this runner has no containers (ISOLATION is cell)',
    );
  if (!containers) return skip('there is no engine on this machine');
  const from = containers.scripts.containers!.image;
  expect((await run(containers, { ...image, image: from }, 'echo works')).printed).toBe('works\n');
  const missing = await run(containers, { ...image, image: 'localhost/nowhere:1' }, 'true');
  expect(missing.failure).toContain('localhost/nowhere:1');
  const dockerfile = `FROM ${from}\nRUN echo built-${Date.now()} > /built; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' > /networks\n`;
  const built = environmentOf({ base: 'dockerfile', dockerfile, setupScript: null });
  expect((await run(containers, built, 'cat /built /networks')).printed).toMatch(/^built-\d+\nlo\n$/);
  expect((await run(containers, built, 'cat /built')).printed).toMatch(/^built-/);
  const broken = await run(containers, { ...built, dockerfile: `FROM ${from}\nRUN false\n` }, 'true');
  expect(broken.failure).toContain('the image could not be built');

  // Images created by missions are removed by age and size. Earlier images, and an image in use, stay.
  const other = { ...built, dockerfile: `${dockerfile}RUN true\n` };
  expect((await run(containers, other, 'cat /built')).printed).toMatch(/^built-/);
  const { program } = containers.scripts.containers!;
  const ask = (...args: string[]) => spawnSync(program, args, { encoding: 'utf8' });
  const isThere = (name: string) => ask('image', 'inspect', name).status === 0;
  const store = path.join(folder, 'images');
  const nameOf = (text: string) =>
    `localhost/agent-environment:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  const [first, second] = [dockerfile, other.dockerfile].map(nameOf) as [string, string];
  const files = readdirSync(store).map((name) => path.join(store, name));
  expect(files.map((file) => readFileSync(file, 'utf8')).sort()).toEqual([first, second].sort());
  const age = (name: string, hours: number) => {
    const at = new Date(Date.now() - hours * 3_600_000);
    utimesSync(files.find((file) => readFileSync(file, 'utf8') === name)!, at, at);
  };
  age(first, 40);
  age(second, 30);
  const holder = `holds-${process.pid}`;
  ask('run', '--detach', '--name', holder, '--network', 'none', '--entrypoint', 'sleep', second, '600');
  await openImageStore({ folder: store, keepMs: 35 * 3_600_000, maxBytes: 2 ** 40 }).sweep(program);
  expect([isThere(first), isThere(second), isThere(from)]).toEqual([false, true, true]);
  const small = openImageStore({ folder: store, keepMs: 1e9, maxBytes: 1 });
  await small.sweep(program);
  expect(isThere(second)).toBe(true);
  ask('rm', '--force', holder);
  await small.sweep(program);
  expect([isThere(second), isThere(from), readdirSync(store)]).toEqual([false, true, []]);
});

describe('the store of prepared environments', () => {
  const placeFor = (name: string) => {
    const at = path.join(folder, 'kept', name);
    for (const one of ['work', 'home/.npm/_cacache']) mkdirSync(path.join(at, one), { recursive: true });
    return { work: path.join(at, 'work'), home: path.join(at, 'home') };
  };
  const setup = { work: [], seconds: 1 };

  it('the store of prepared environments shares downloads between concurrent setups of one organization, and never with a setup of another organization', async () => {
    const store = path.join(folder, 'caches');
    const prepared = openPrepared({ folder: store, keepMs: 60_000, maxBytes: 2 ** 30 });
    const places = ['one', 'two', 'three'].map(placeFor);
    for (const { home } of places) {
      for (let i = 0; i < 40; i++) writeFileSync(path.join(home, `.npm/_cacache/${i}`), 'x');
      execFileSync('ln', ['-s', '../_cacache', path.join(home, '.npm/_cacache/loop')]);
    }
    await prepared.keep('org_1', 'key', places[0]!, setup);
    const fresh = Array.from({ length: 6 }, (_, i) => path.join(folder, 'kept', `fresh-${i}`));
    for (const home of fresh) mkdirSync(home);
    await Promise.all([
      ...places.map((place, i) => prepared.keep('org_1', `key-${i}`, place, setup)),
      ...fresh.map((home) => prepared.seed('org_1', home)),
    ]);
    for (const home of fresh) expect(readdirSync(path.join(home, '.npm/_cacache'))).toHaveLength(41);
    await prepared.seed('org_2', places[0]!.work);
    expect(readdirSync(places[0]!.work)).toEqual([]);
    const caches = path.join(store, 'org_1/caches');
    execFileSync('touch', ['-d', new Date(Date.now() - 3_600_000).toISOString(), caches]);
    await prepared.sweep();
    expect(readdirSync(path.join(store, 'org_1'))).not.toContain('caches');
  });

  it.skipIf(spawnSync('flock', ['--version']).error)(
    'the store of prepared environments is written by one of several runners at a time',
    async () => {
      const [store, told] = [path.join(folder, 'runners'), path.join(folder, 'told')];
      const runner = `import { openPrepared } from './src/runner/workspace/prepared.ts';
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
const prepared = openPrepared({ folder: '${store}', keepMs: 1e9, maxBytes: 2 ** 30 });
await prepared.alone('org_1', 'key', async () => {
  appendFileSync('${told}', 'begins ');
  execFileSync('sleep', ['0.3']);
  appendFileSync('${told}', 'ends ');
});`;
      const args = ['--import', 'tsx', '--input-type=module', '--eval', runner];
      await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)));
      expect(readFileSync(told, 'utf8')).toBe('begins ends '.repeat(3));
    },
  );

  it('the store of prepared environments stores nothing on a full disk, and removes what was written', async ({
    skip,
  }) => {
    const store = path.join(folder, 'full');
    mkdirSync(store);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', store]).status !== 0) return skip('needs root');
    try {
      const prepared = openPrepared({ folder: store, keepMs: 60_000, maxBytes: 2 ** 30 });
      const place = placeFor('big');
      writeFileSync(path.join(place.home, 'big'), Buffer.alloc(256 * 1024));
      await expect(prepared.keep('org_1', 'key', place, setup)).rejects.toThrow('No space left on device');
      expect(readdirSync(path.join(store, 'org_1'))).toEqual([]);
    } finally {
      execFileSync('umount', [store]);
    }
  });

  it('the store of prepared environments does not follow links that lead out of the checkout, and removes entries by age and size', async () => {
    const store = path.join(folder, 'store');
    const [from, to] = ['from', 'to'].map((name) => path.join(folder, name));
    for (const at of [from!, to!])
      for (const name of ['work', 'home']) mkdirSync(path.join(at, name), { recursive: true });
    const places = (at: string) => ({ work: path.join(at, 'work'), home: path.join(at, 'home') });
    mkdirSync(path.join(folder, 'outside'));
    writeFileSync(path.join(folder, 'outside/secret'), 'of somebody else');
    execFileSync('ln', ['-s', path.join(folder, 'outside'), path.join(from!, 'work/link')]);
    execFileSync('ln', ['-s', 'loop', path.join(from!, 'work/loop')]);
    writeFileSync(path.join(from!, 'work/file'), 'kept');
    const prepared = openPrepared({ folder: store, keepMs: 1e9, maxBytes: 2 ** 30 });
    const names = ['link/secret', 'link', 'loop', 'file', '../outside', '/etc/passwd', '.git/config', 'gone'];
    await prepared.keep('org_1', 'key', places(from!), { work: names, seconds: 1 });
    // The next checkout already contains a symbolic link at the path `work/file`, as if the repository had one there.
    execFileSync('ln', ['-s', path.join(folder, 'outside'), path.join(to!, 'work/file')]);
    await prepared.restore('org_1', 'key', places(to!));
    expect(readdirSync(path.join(store, 'org_1/key/work')).sort()).toEqual(['file', 'link', 'loop']);
    expect(readdirSync(path.join(to!, 'work')).sort()).toEqual(['file', 'link', 'loop']);
    expect(readdirSync(path.join(folder, 'outside'))).toEqual(['secret']);
    const old = new Date(Date.now() - 3_600_000);
    execFileSync('touch', ['-d', old.toISOString(), path.join(store, 'org_1/key')]);
    await openPrepared({ folder: store, keepMs: 1e9, maxBytes: 2 ** 30 }).sweep();
    expect(readdirSync(path.join(store, 'org_1'))).toContain('key');
    await openPrepared({ folder: store, keepMs: 60_000, maxBytes: 2 ** 30 }).sweep();
    expect(readdirSync(path.join(store, 'org_1'))).not.toContain('key');
  });
});

describe('the mask of secrets', () => {
  it.each([
    ['in plain text', 'p@ss word/1', 'a p@ss word/1 b'],
    ['in Base64, at any position', 'top-secret-value', `x ${Buffer.from('ab:top-secret-value!').toString('base64')}`],
    ['in URL encoding', 'p@ss word/1', `?t=${encodeURIComponent('p@ss word/1')}`],
    ['in JSON', 'a"b\\c"d', JSON.stringify({ x: 'a"b\\c"d' })],
    ['line by line', '-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----', 'MIIEvQIBADANBg'],
  ])('the mask of secrets hides a secret value %s', (_, value, text) => {
    const mask = createMask([value]);
    expect(mask(text)).toContain('[secret]');
    for (const part of value.split('\n')) expect(mask(text)).not.toContain(part);
  });

  it('the mask of secrets never makes a text longer', () => {
    const mask = createMask(['1234', '1234567', 'secret', 'the-value']);
    const text = '1234 1234567 secret the-value '.repeat(500);
    expect(mask(text).length).toBeLessThanOrEqual(text.length);
    for (const value of ['1234', '1234567', 'the-value']) expect(mask(text)).not.toContain(value);
  });

  it('the mask of secrets ignores values of one character', () => {
    expect(createMask(['a', '', 'ab '])('a banana')).toBe('a banana');
  });
});
