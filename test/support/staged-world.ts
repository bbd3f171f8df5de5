// A project at a stand-in for GitHub with a real git repository. The project's missions stage their effects, and a test acts as the
// runtime. The requests that change something at the stand-in are counted, and a test can stop one of them.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { minutes, now } from '#foundation/clock.ts';
import { type GitHub, openGitHub } from './fake-github.ts';
import { createRepository, serveGit } from './git-server.ts';
import { type HostWorld, openHostWorld } from './host-world.ts';
import { programArguments } from './processes.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const credentials = 'ghp_ofAcme';
const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

/** The name of a request that changes something at the host: `PUSH` if it pushes commits, otherwise its method and its path below the repository. */
const nameOf = ({ method, url }: IncomingMessage): string | null => {
  if (url!.endsWith('/git-receive-pack')) return 'PUSH';
  // GraphQL requests are not counted, because they only read review threads.
  return method === 'GET' || url === '/graphql'
    ? null
    : `${method} ${url!.replace(/^\/repos\/[^/]+\/[^/]+/, '').split('?')[0]}`;
};

type When = 'before' | 'after';

/** Counts the requests that change something at the stand-in. Can stop one of them, either before its effect or before its response. */
function watchRequests(github: GitHub) {
  const done: string[] = [];
  let stop: { name: string; when: When; reached(): void } | null = null;
  const [own] = github.server.listeners('request') as [(req: IncomingMessage, res: ServerResponse) => void];
  github.server.removeAllListeners('request').on('request', (req: IncomingMessage, res: ServerResponse) => {
    const name = nameOf(req);
    const stopped = stop && name?.startsWith(stop.name) ? stop : null;
    if (stopped) stop = null;
    if (stopped?.when === 'before') return stopped.reached();
    if (name) done.push(name);
    if (stopped) {
      res.write = () => true;
      res.end = () => {
        stopped.reached();
        return res;
      };
    }
    own(req, res);
  });
  return {
    done,
    /**
     * Stops the next request whose name begins with `name`, and never answers it. Resolves when the request has arrived or, with `after`,
     * when its effect has happened.
     */
    stopAt: (name: string, when: When) =>
      new Promise<void>((reached) => {
        stop = { name, when, reached };
      }),
  };
}

export type StagedWorld = Awaited<ReturnType<typeof openStagedWorld>>;

export async function openStagedWorld(policy: object, { tracker }: { tracker?: 'builtin' } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-staged-'));
  const bare = createRepository(folder, 'acme/shop', { 'a.txt': 'old\n' });
  const github = await openGitHub(credentials);
  github.clear('acme/shop');
  const repository = () => github.repositories.get('acme/shop')!;
  serveGit(github.server, {
    folder,
    accepts: github.accepts,
    onPush: () => {
      for (const line of git(bare, 'for-each-ref', '--format=%(refname:short) %(objectname)').split('\n'))
        repository().heads.set(...(line.split(' ') as [string, string]));
    },
  });
  const requests = watchRequests(github);
  const heads = () => repository().heads;
  const host: HostWorld = await openHostWorld({
    ...{ vendor: 'github', host: github, credentials, project: { repoFullName: 'acme/shop' }, heads },
    ...(tracker && { tracker }),
  });
  const { world, runtime, projectId } = host;
  const { token } = host.owner;
  const as = (query: string, variables: object, by: string = token): Promise<Json> =>
    world.field(query, { token: by, variables: variables as Record<string, unknown> });
  const setPolicy = (given: object | null): Promise<Json> =>
    as(
      `mutation ($id: String!, $policy: EffectPolicyInput) { setProjectEffectPolicy(projectId: $id, policy: $policy) {
        effectPolicy { waits allowedTools } } }`,
      { id: projectId, policy: given },
    );
  await setPolicy(policy);
  requests.done.length = 0;
  let commits = 0;

  /**
   * Commits a file on the branch of a run, in a new clone. Returns the id of the commit, and a git bundle of everything in the branch that
   * the main branch at the host lacks.
   */
  function commit(branch: string, parent?: string): { headSha: string; bundle: Buffer } {
    const clone = path.join(folder, `clone-${++commits}`);
    git(folder, 'clone', '-q', bare, clone);
    for (const file of bundles) git(clone, 'fetch', '-q', file, '+refs/heads/*:refs/earlier/*');
    git(clone, 'checkout', '-q', '-b', branch, parent ?? 'main');
    writeFileSync(path.join(clone, `file-${commits}.txt`), `new ${commits}\n`);
    git(clone, 'add', '.');
    git(clone, 'commit', '-qm', `Write ${commits}`);
    const file = path.join(folder, `${commits}.bundle`);
    git(clone, 'bundle', 'create', '-q', file, branch, '^origin/main');
    bundles.push(file);
    return { headSha: git(clone, 'rev-parse', 'HEAD'), bundle: readFileSync(file) };
  }
  const bundles: string[] = [];

  return {
    ...host,
    github,
    repository,
    requests,
    as,
    setPolicy,
    commit,
    folder,
    /** The commit of a branch at the host; null without one. */
    headOf(branch: string): string | null {
      try {
        return git(bare, 'rev-parse', '-q', '--verify', `refs/heads/${branch}`);
      } catch {
        return null;
      }
    },
    /** Moves a branch at the host, as a person does. */
    move: (branch: string, sha: string) => git(bare, 'update-ref', `refs/heads/${branch}`, sha),
    /** Commits a file, and reports the commit for a run. The commit then waits for approval. */
    async stage({ runId, leaseId, branch }: Json, parent?: string): Promise<string> {
      const { headSha, bundle } = commit(branch, parent);
      const held = { runId, leaseId };
      const { contentKey, uploadUrl } = await runtime.report('createArtifactUpload', held, '{ contentKey uploadUrl }');
      await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(bundle) });
      const size = { commits: 1, files: 1, insertions: 1, deletions: 0 };
      const report = { ...held, headSha, baseBranch: 'main', bundleContentKey: contentKey, ...size };
      await runtime.report('reportBranch', report, '{ prNumber prUrl }');
      await world.delivered();
      return headSha;
    },
    /** The effects of a run, in order. */
    effects: async (runId: string): Promise<Json[]> =>
      (
        await as(
          `query ($runId: String!) { outsideEffects(runId: $runId) { data {
            id kind state title text digest error resultUrl decidedBy } } }`,
          { runId },
        )
      ).data,
    /** Decides about effects, and carries out the approved ones. Returns the run, or the problem. */
    async decide(decision: 'approve' | 'reject', runId: string, more: object = {}, by = token): Promise<Json> {
      const answer = await as(
        `mutation ($runId: String!, $effectIds: [String!], $digests: [String!]) {
          ${decision}OutsideEffects(runId: $runId, effectIds: $effectIds, digests: $digests) { id } }`,
        { runId, ...more },
        by,
      );
      await world.delivered();
      return answer;
    },
    /**
     * Starts a process that carries out approved effects, and kills the process at its next request whose name begins with `name`. The kill
     * happens before the effect of this request, or after the effect and before the response. Then ends the lease of the killed process, so
     * that another process continues.
     */
    async killAt(name: string, when: 'before' | 'after'): Promise<void> {
      const stopped = requests.stopAt(name, when);
      const { url, connection, clock, knex } = world;
      const orders = { connection, url, at: now(), vendors: { github: github.address }, contents: host.world.contents };
      const args = [...programArguments('test/effects-process'), JSON.stringify(orders)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      await stopped;
      const dead = once(child, 'exit');
      child.kill('SIGKILL');
      await dead;
      clock.turn(minutes(7));
      // The database's own clock decides when a lost job, or one that failed, is due again. The test cannot set that clock, so it makes the job
      // due here. The first attempt can fail because the database still executes the last statement of the killed process, which locks a row.
      const dueSql = `update background.job set state = 'retry', start_after = now() where state in ('active', 'retry')`;
      while ((await knex.raw(dueSql)).rowCount > 0) await world.delivered();
    },
    async close(): Promise<void> {
      await host.close();
      rmSync(folder, { recursive: true });
    },
  };
}
