// Services alongside missions, in containers of a real engine: tests are skipped if no engine has an image with Node.js.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { divideLimits } from '../../src/runner/isolation/services.ts';
import { createProject } from '../support/callers.ts';
import { openMissionWorld, type Runner } from '../support/mission-world.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = realEngine();
const image = engine?.CONTAINER_IMAGE ?? 'localhost/base:node';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('shell', 'builder');
});
afterAll(() => missions.close());

/** Containers of the services of a runner, running or not. */
function containersOf(pid: number): string[] {
  const listed = ['ps', '--all', '--format', '{{.Names}}', '--filter', 'name=services-'];
  const names = execFileSync(engine!.CONTAINER_PROGRAM, listed, { encoding: 'utf8' }).split('\n');
  return names.filter((name) => new RegExp(`^services-\\w+-${pid}(-|$)`).test(name));
}

const reach = "(url) => fetch(url, { signal: AbortSignal.timeout(5_000) }).then(() => 'open', () => 'closed')";
/**
 * A server that answers with its variable WORD, its command-line argument and the names of its network interfaces. The answer ends with
 * three words, `open` or `closed`: whether the server reaches a public address, the proxy and the gateway.
 */
const server = `require('http').createServer(async ({ url }, answer) => {
  if (url === '/end') console.error('no space left') || process.exit(9);
  const out = await Promise.all(['http://192.0.2.1', 'http://127.0.0.1:4011', 'http://localhost:4010'].map(${reach}));
  answer.end([process.env.WORD, process.argv[1], Object.keys(require('os').networkInterfaces()), ...out].join(' '));
}).listen(8123, () => console.log('listens'))`;
const healthCheck =
  'node -e "fetch(\'http://localhost:8123\').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"';
const web = {
  name: 'web',
  image,
  variables: [{ name: 'WORD', value: 'hello' }],
  command: ['node', '-e', server, '--', 'given'],
  healthCheck,
};
const call = `node -e "fetch('http://localhost:8123').then((r) => r.text()).then((t) => console.log('It says ' + t))"
node -e "(${reach})('http://127.0.0.1:4011').then((how) => console.log('My proxy is ' + how))"`;

let named = 0;
/** A mission in a project of its own, so that several missions can run at once. */
async function mission(services: object[], script: string, more: object = {}): Promise<string> {
  const { world, alice, graphql } = missions;
  const name = `Services ${++named}`;
  const create = 'mutation ($input: CreateSandboxTemplateRequest!) { createSandboxTemplate(input: $input) { id } }';
  const { id } = await graphql(create, { input: { name, services, ...more } });
  const projectId = await createProject(world, alice, name);
  const choose =
    'mutation ($p: String!, $input: UpdateProjectRequest!) { updateProject(projectId: $p, input: $input) { id } }';
  await graphql(choose, { p: projectId, input: { defaultSandboxTemplateId: id } });
  return missions.mission(script, projectId);
}

describe('services of a mission', () => {
  const settings = {
    ISOLATION: 'container',
    CONFINEMENT: 'auto',
    SETUP_TIMEOUT_MS: '6000',
    HOME: process.env.HOME ?? '/',
    ...engine,
  };
  let runner: Runner;

  it('services of a mission are ready before the setup and the work of the mission, are on its network only, and are removed with it', async ({
    skip,
  }) => {
    if (!engine) return skip('there is no engine with an image that has Node.js');
    runner = missions.startRunner(settings);
    const plain = { name: 'plain', image, command: ['sleep', '1000'] };
    const runId = await mission([web, plain], call, { setupScript: call });
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    const log = `${await missions.log(runId, 'session')}`;
    expect(log.match(/It says hello given lo closed closed closed\nMy proxy is open/g), log).toHaveLength(2);
    await missions.until(async () => containersOf(runner.process.pid!).length === 0);
  });

  it('a mission fails with the last lines of a service that ends or is not ready in time', async ({ skip }) => {
    if (!engine) return skip('there is no engine with an image that has Node.js');
    const broken = { name: 'broken', image, command: ['sh', '-c', 'echo no data folder >&2; exit 3'] };
    const silent = { ...web, name: 'silent', healthCheck: 'echo refused; false' };
    const absent = { name: 'absent', image: 'localhost/nowhere:1' };
    const reasons: [object[], RegExp][] = [
      [[web, broken], /the service broken has ended with the exit code 3\n(.*\n)*no data folder/],
      [[silent], /the service silent is not ready after \d+ s\nIts health check says: refused\n(.*\n)*listens/],
      [[absent], /the service absent: its image localhost\/nowhere:1 is not available/],
    ];
    await Promise.all(
      reasons.map(async ([services, reason]) =>
        expect(await missions.ended(await mission(services, 'true')), runner.output).toMatchObject({
          status: 'failed',
          lastError: expect.stringMatching(reason),
        }),
      ),
    );
    await missions.until(async () => containersOf(runner.process.pid!).length === 0);
  });

  it('services of a mission get secrets for the setup as environment variables, and the log shows no secret that a service prints; the files of services count towards the disk limit of the mission', async ({
    skip,
  }) => {
    if (!engine) return skip('there is no engine with an image that has Node.js');
    const { person, organization } = missions.alice;
    const session = await missions.world.session(person, organization.id);
    const secret = {
      scope: 'organization',
      kind: 'secret',
      name: 'DB_PASSWORD',
      value: 'p4ss-w0rd-1',
      setupOnly: true,
    };
    expect((await missions.world.rest('POST', '/secrets', { session, body: secret })).status).toBe(201);
    const named = { ...web, variables: [{ name: 'WORD', value: 'me:${secret:DB_PASSWORD}' }] };
    const runId = await mission([named], `${call}; echo "[$DB_PASSWORD]"`);
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    expect(await missions.log(runId)).toMatch(/It says me:\[secret\] given(.*\n)+\[\]\n/);
    const broken = { ...named, name: 'broken', command: ['sh', '-c', 'echo refused $WORD; exit 3'] };
    const lastError = expect.stringContaining('exit code 3\nrefused me:[secret]');
    expect(await missions.ended(await mission([broken], 'true'))).toMatchObject({ status: 'failed', lastError });
    const unknown = { ...web, variables: [{ name: 'WORD', value: '${secret:OTHER}' }] };
    expect(await missions.ended(await mission([unknown], 'true'))).toMatchObject({
      lastError: expect.stringMatching(
        /the service web: the secret OTHER of WORD is not a secret for the setup of this mission$/,
      ),
    });
    const fill = { name: 'full', image, command: ['sh', '-c', 'head -c 290000000 /dev/zero > /root/big; sleep 1000'] };
    const full = await mission([fill], 'sleep 1000', { diskMb: 256 });
    expect(await missions.ended(full), runner.output).toMatchObject({
      lastError: 'It exceeded its disk limit: 256 MB.',
    });
  });

  it('the setup or step of a mission fails at once when one service ends; the error contains the last lines that the service printed', async ({
    skip,
  }) => {
    if (!engine) return skip('there is no engine with an image that has Node.js');
    const endIt = 'node -e "fetch(\'http://localhost:8123/end\').catch(() => {})"; sleep 1000';
    const why = /is no(t| longer) ready: the service web has ended with the exit code 9\n(.*\n)*no space left/;
    const failed = { status: 'failed', lastError: expect.stringMatching(why) };
    const [inSetup, inStep] = await Promise.all([
      mission([web], 'true', { setupScript: endIt }),
      mission([web], endIt),
    ]);
    expect(await missions.ended(inSetup)).toMatchObject(failed);
    expect(await missions.ended(inStep)).toMatchObject(failed);
    expect(await missions.log(inStep, 'session')).toMatch(why);
  });

  it('services of a mission end with their runner, even by SIGKILL', async ({ skip }) => {
    if (!engine) return skip('there is no engine with an image that has Node.js');
    const runId = await mission([web], 'echo begun; sleep 1000');
    await missions.until(async () => (await missions.log(runId, 'session')).includes('begun'));
    expect(containersOf(runner.process.pid!)).toHaveLength(2);
    await missions.loseRunner(runId);
    await missions.until(async () => containersOf(runner.process.pid!).length === 0);
    await missions.graphql('mutation ($r: String!) { cancelRun(runId: $r) { id } }', { r: runId });
  });

  it('a mission with services fails at its start when its runner has no containers', async () => {
    runner = missions.startRunner({ ISOLATION: 'none', CONFINEMENT: 'none' });
    expect(await missions.ended(await mission([web], 'true')), runner.output).toMatchObject({
      status: 'failed',
      lastError: expect.stringMatching(
        /is not ready: it has services \(web\), which need ISOLATION=container, but ISOLATION is none$/,
      ),
    });
    await missions.killRunners();
  });

  it('services of a mission share half of the mission’s memory and processes', () => {
    const limits = { cpus: 3, memoryBytes: 1_200, processes: 60, diskBytes: 5 };
    expect(divideLimits(limits, 0).own).toEqual(limits);
    const half = { cpus: 1.5, memoryBytes: 600, processes: 30, diskBytes: 5 };
    expect(divideLimits(limits, 3)).toEqual({
      own: half,
      each: { cpus: 0.5, memoryBytes: 200, processes: 10, diskBytes: 5 },
    });
  });
});
