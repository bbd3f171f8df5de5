// Attestations: signed statements about a mission with two commits and their reviews. The tests verify the signatures without the code of the
// service, and with `aep verify` in a git repository.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateAuditKey } from '#domain/lifecycle/audit/tree/keys.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Keys, verifyAttestation } from '../../../clients/cli/src/attestation.ts';
import { addedLines } from '../../../clients/cli/src/commands/trace.ts';
import { type Callers, createCallers, createProject } from '../../support/callers.ts';
import { projectFolder } from '../../support/processes.ts';
import { createRuntime, type Runtime } from '../../support/runtime-client.ts';
import { openWorld, type World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const folder = mkdtempSync(path.join(tmpdir(), 'aep-attestations-'));
const repository = path.join(folder, 'acme/shop');
let world: World;
let callers: Callers;
let runtime: Runtime;
let held: Json;
let agentId: string;

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], {
    cwd: repository,
    encoding: 'utf8',
  }).trim();
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');
const get = (at: string, token = callers.owner.token) => world.rest('GET', at, { token });
const statementOf = (envelope: Json): Json => JSON.parse(Buffer.from(envelope.payload, 'base64').toString());

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  world = await openWorld();
  callers = await createCallers(world);
  const { organization, token } = callers.owner;
  runtime = await createRuntime(world, organization);
  mkdirSync(repository, { recursive: true });
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const connector = { orgId: organization.id, vendor: 'builtin' as const, displayName: 'Code' };
  await connectIntegration({ ...connector, vendorKind: 'scm', externalOrgId: folder });
  await connectIntegration({ ...connector, vendorKind: 'tracker' });
  const projectId = await createProject(world, callers.owner, 'Shop');
  for (const role of ['builder', 'reviewer']) {
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const agent = { name: role, role, harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
    const { body } = await world.rest('POST', '/agents', { token, body: agent });
    agentId ??= body.id;
  }
  await world.rest('POST', '/runs', { token, body: { projectId, prompt: 'Mend the date test.' } });
  await world.delivered();
  const step = 'step { stepId seq role prompt }';
  held = await runtime.claim({}, `{ runId leaseId branch ${step} }`);
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
  openOutbound({ allowLoopback: false });
});

const ofRun = () => ({ runId: held.runId, leaseId: held.leaseId });
const usage = (usageId: string, stepId: string, more: object = {}) =>
  runtime.report('reportUsage', {
    ...{ ...ofRun(), usageId, stepId, model: 'claude-sonnet-4-5', inputTokens: 1_200, outputTokens: 50 },
    ...more,
  });
const finishStep = (stepId: string, more: object = {}) =>
  runtime.report('finishStep', { ...ofRun(), stepId, status: 'completed', ...more }, '{ outcome step { stepId } }');
const signed = () =>
  runtime.report(
    'signAttestations',
    ofRun(),
    '{ data { sha envelope { payloadType payload signatures { keyid sig } } } }',
  );

/** Commits of the agent in order, and the report of the runtime about them. */
function commit(...names: string[]) {
  git('checkout', '-q', '-B', held.branch);
  return names.map((name) => {
    writeFileSync(path.join(repository, name), `${name}\n`);
    git('add', '.');
    git('commit', '-qm', `Write ${name}`);
    return { sha: git('rev-parse', 'HEAD'), tree: git('rev-parse', 'HEAD^{tree}') };
  });
}

/** Whether the envelope is signed by the key, computed as the specifications of DSSE and Ed25519 say. */
function isSigned({ payloadType, payload, signatures: [one] }: Json, key: KeyObject): boolean {
  const bytes = Buffer.from(payload, 'base64');
  const encoded = `DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} ${bytes.toString('latin1')}`;
  return verify(null, Buffer.from(encoded, 'latin1'), key, Buffer.from(one.sig, 'base64'));
}

/** The root of a Merkle tree, by RFC 6962 section 2.1. */
function rootOf(leaves: Buffer[]): Buffer {
  const hash = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  if (leaves.length === 1) return hash(Buffer.of(0), leaves[0]!);
  let left = 1;
  while (left * 2 < leaves.length) left *= 2;
  return hash(Buffer.of(1), rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)));
}

const publicKeys = async (): Promise<Json[]> => (await world.request('GET', '/.well-known/audit-keys.json')).body.keys;
const keyOf = (publicKey: string): KeyObject =>
  createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'base64url').toString('base64url') },
  });

const ofOne = { requestSha256: 'a'.repeat(64), responseSha256: 'b'.repeat(64) };
const connection = {
  host: 'registry.example',
  port: 443,
  phase: 'agent',
  verdict: 'allowed',
  count: 2,
  sentBytes: 10,
  receivedBytes: 20,
};
let commits: { sha: string; tree: string }[];

/** Plays a mission with two commits, and with reviews by an agent and a person. */
async function carryOut() {
  const { stepId } = held.step;
  const base = git('rev-parse', 'main');
  await runtime.register(held, { harnessVersion: '2.1.330' });
  for (const id of ['one', 'one']) await usage(id, stepId, { answer: { vendor: 'anthropic', status: 200, ...ofOne } });
  await runtime.report('reportConnections', { ...ofRun(), reportId: 'r1', connections: [connection] });
  commits = commit('a.txt', 'b.txt');
  const branch = { headSha: commits[1]!.sha, baseBranch: 'main', baseSha: base, newCommits: commits };
  for (const _ of [1, 2]) await runtime.report('reportBranch', { ...ofRun(), ...branch }, '{ prNumber }');
  const [first, second] = (await signed()).data;
  expect(statementOf(second.envelope).predicate.reviews).toEqual([]);
  // Nothing has changed since the statement was signed, so its signature stays the same.
  world.clock.turn(5);
  expect((await signed()).data).toEqual([first, second]);

  const reviewer = (await finishStep(stepId)).step;
  const verdict = JSON.stringify({ verdict: 'approve', comments: [] });
  await finishStep(reviewer.stepId, { output: verdict });
  await runtime.finish(held);
  const review = { runId: held.runId, headSha: commits[1]!.sha, verdict: 'approve', body: 'Good.', comments: [] };
  await world.field('mutation ($input: SubmitReviewRequest!) { submitReview(input: $input) { id } }', {
    ...{ token: callers.owner.token, variables: { input: review } },
  });
  await world.delivered();
  return { base, reviewer, verdict };
}

it('an attestation says how its commit was created, is signed by the platform, and includes later reviews', async () => {
  const { stepId, prompt } = held.step;
  const { base, reviewer, verdict } = await carryOut();
  const { body } = await get(`/attestations/${commits[1]!.sha}`);
  const [key] = await publicKeys();
  expect(body).toEqual({
    ...{
      sha: commits[1]!.sha,
      treeSha: commits[1]!.tree,
      runId: held.runId,
      projectId: expect.any(String),
      position: 2,
    },
    ...{ keyId: key.id, signedAt: expect.any(Number), createdAt: expect.any(Number), envelope: body.envelope },
  });
  expect(isSigned(body.envelope, keyOf(key.publicKey))).toBe(true);
  expect(body.envelope.payloadType).toBe('application/vnd.in-toto+json');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const { data: calls } = (await get(`/runs/${held.runId}/calls`)).body;
  expect(calls.map(({ number, kind, entry }: Json) => [number, kind, JSON.parse(entry)])).toEqual([
    [
      ...[1, 'model'],
      {
        ...{ kind: 'model', at: expect.any(Number), step: stepId, vendor: 'anthropic', model: 'claude-sonnet-4-5' },
        ...{ status: 200, request: ofOne.requestSha256, response: ofOne.responseSha256 },
        ...{ inputTokens: 1_200, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 50 },
      },
    ],
    [2, 'network', { kind: 'network', at: expect.any(Number), connections: [connection], omitted: 0 }],
  ]);
  const run = await world.knex('runs').where({ id: held.runId }).first();
  const step = {
    harness: { name: 'claude-code', release: '2.1.330' },
    model: 'claude-sonnet-4-5',
    template: 'standard',
  };
  const none = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };
  const steps = await world.knex('run_steps').where({ runId: held.runId }).orderBy('seq');
  expect(statementOf(body.envelope)).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'commit', digest: { gitCommit: commits[1]!.sha } },
      { name: 'tree', digest: { gitTree: commits[1]!.tree } },
    ],
    predicateType: 'urn:agent-engineering-platform:mission-commit:v1',
    predicate: {
      platform: world.url,
      run: {
        ...{ id: held.runId, organization: callers.owner.organization.id, project: run.projectId },
        ...{ repository: 'acme/shop', branch: held.branch, issue: run.issueId, continuesStep: null },
      },
      base: { branch: 'main', gitCommit: base },
      steps: [
        {
          ...{ ...step, id: stepId, role: 'builder', round: 1, agent: { id: agentId, name: 'builder', version: 1 } },
          ...{ prompt: { sha256: sha256(prompt) }, instructions: null, tokens: { ...none, input: 1_200, output: 50 } },
          costUsd: run.missionCostUsd,
        },
        {
          ...{
            ...step,
            id: reviewer.stepId,
            role: 'reviewer',
            round: 1,
            harness: { name: 'claude-code', release: null },
          },
          ...{
            agent: { id: steps[1].agent.agentId, name: 'reviewer', version: 1 },
            instructions: null,
            tokens: none,
            costUsd: 0,
          },
          prompt: { sha256: sha256(steps[1].prompt) },
        },
      ],
      ...{ environments: [], messages: [], commits: { isComplete: true } },
      calls: {
        ...{ tree: 'rfc6962-sha256', size: 2, model: 1, tool: 0, network: 1, isComplete: true },
        rootHash: rootOf(calls.map(({ entry }: Json) => Buffer.from(entry))).toString('hex'),
      },
      approvals: [],
      reviews: [
        {
          ...{ by: null, step: reviewer.stepId, verdict: 'approve', gitCommit: commits[1]!.sha, at: time },
          text: { sha256: sha256(verdict) },
        },
        {
          ...{ by: callers.owner.person.id, id: expect.stringMatching(/^rvw_/), verdict: 'approve' },
          ...{ gitCommit: commits[1]!.sha, at: time, text: { sha256: sha256('Good.') } },
        },
      ],
      cost: { usd: run.missionCostUsd, isComplete: true },
      commit: { step: stepId, position: 2, reportedAt: time, reporter: expect.stringMatching(/^svc_/) },
      signedAt: new Date(body.signedAt).toISOString(),
    },
  });
  const query = 'query ($r: String!) { run(runId: $r) { attestations { sha position } } }';
  expect(await world.field(query, { token: callers.viewer.token, variables: { r: held.runId } })).toEqual({
    attestations: commits.map(({ sha }, i) => ({ sha, position: i + 1 })),
  });
});

it('404 · attestations of unknown commits, and those of another organization or project, are not found', async () => {
  const { owner, stranger } = callers;
  const other = await createProject(world, owner, 'Other');
  const bound = await world.token(owner.person, owner.organization, { projectId: other, scopes: ['missions:read'] });
  for (const token of [stranger.token, bound])
    for (const at of [`/attestations/${commits[0]!.sha}`, `/runs/${held.runId}/calls`])
      expect((await get(at, token)).status).toBe(404);
  expect((await get(`/attestations/${'0'.repeat(40)}`)).status).toBe(404);
  expect(
    await runtime.ask('signAttestations', { runId: held.runId, leaseId: 'lse_other' }, '{ data { sha } }'),
  ).toMatchObject({
    code: 'lease_lost',
  });
});

it('the first 500 commits of a run are attested, including commits in a report that the service refuses because the report names an unknown artifact', async () => {
  const { projectId } = await world.knex('runs').where({ id: held.runId }).first();
  const { token } = callers.owner;
  await world.rest('POST', '/runs', { token, body: { projectId, prompt: 'Mend the other test.' } });
  await world.delivered();
  const { runId, leaseId } = await runtime.claim({}, '{ runId leaseId }');
  const id = (name: string) => createHash('sha1').update(name).digest('hex');
  const all = Array.from({ length: 600 }, (_, i) => ({ sha: id(`commit ${i}`), tree: id(`tree ${i}`) }));
  const report = (newCommits: Json, more: object = {}) => {
    const branch = { headSha: newCommits.at(-1).sha, baseBranch: 'main', newCommits, ...more };
    return runtime.ask('reportBranch', { runId, leaseId, ...branch }, '{ prNumber }');
  };
  const attested = () =>
    runtime.report('signAttestations', { runId, leaseId }, '{ data { position envelope { payload } } }');
  const places = (length: number, from = 1) => Array.from({ length }, (_, i) => ({ position: from + i }));
  expect(await report(all.slice(0, 150), { changeArtifactId: 'art_unknown' })).toMatchObject({
    code: 'invalid_request',
  });
  expect((await attested()).data).toMatchObject(places(150));
  for (const from of [0, 200, 400]) await report(all.slice(from, from + 200));
  const { data } = await attested();
  expect(data).toMatchObject(places(500));
  expect(statementOf(data[0].envelope).predicate.commits).toEqual({ isComplete: false });
  const query = 'query ($r: String!) { run(runId: $r) { attestations { position } } }';
  const { attestations } = await world.field(query, { token, variables: { r: runId } });
  expect(attestations).toEqual(places(100, 401));
});

it('verification rejects a forged attestation, and names what does not match', async () => {
  const { envelope } = (await get(`/attestations/${commits[1]!.sha}`)).body;
  const entries = (await get(`/runs/${held.runId}/calls`)).body.data.map(({ entry }: Json) => entry);
  const own = generateKeyPairSync('ed25519');
  const raw = Buffer.from(own.publicKey.export({ format: 'jwk' }).x!, 'base64url');
  const [{ id, publicKey }] = await publicKeys();
  const keys: Keys = new Map([
    [id, Buffer.from(publicKey, 'base64')],
    ['own', raw],
  ]);
  const resigned = (change: (statement: Json) => void) => {
    const statement = statementOf(envelope);
    change(statement);
    const payload = Buffer.from(JSON.stringify(statement));
    const signed = Buffer.concat([
      Buffer.from(`DSSEv1 ${envelope.payloadType.length} ${envelope.payloadType} ${payload.length} `),
      payload,
    ]);
    const sig = sign(null, signed, own.privateKey).toString('base64');
    return { ...envelope, payload: payload.toString('base64'), signatures: [{ keyid: 'own', sig }] };
  };
  const findings = (forged: Json, about = commits[1]!, calls: string[] | null = entries) =>
    verifyAttestation(JSON.stringify(forged), keys, about, calls).findings;
  expect(findings(envelope)).toEqual([]);
  expect(findings({ envelope })).toEqual([]);
  expect(findings(resigned(() => {}))).toEqual([]);
  const invalid = ['The signature is not valid: the statement or the signature was changed.'];
  // The whole statement is signed: each changed byte invalidates the signature.
  const bytes = Buffer.from(envelope.payload, 'base64');
  for (let at = 0; at < bytes.length; at += 97) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1;
    expect(findings({ ...envelope, payload: flipped.toString('base64') })).toEqual(invalid);
  }
  const [{ sig }] = envelope.signatures;
  expect(
    findings({ ...envelope, signatures: [{ keyid: id, sig: `${sig[0] === 'A' ? 'B' : 'A'}${sig.slice(1)}` }] }),
  ).toEqual(invalid);
  expect(findings({ ...envelope, signatures: [{ keyid: 'own', sig }] })).toEqual(invalid);
  expect(findings({ ...envelope, payloadType: 'application/json' })).toEqual(invalid);
  expect(findings({ ...envelope, signatures: [{ keyid: 'foreign', sig }] })).toEqual([
    'The attestation is signed by an unknown key: foreign.',
  ]);
  for (const broken of ['no envelope', {}, { ...envelope, signatures: [] }, null])
    expect(findings(broken)).toEqual(['The attestation is not an envelope (DSSE).']);
  expect(findings(envelope, commits[0])).toEqual([
    `The statement is about another commit: ${commits[1]!.sha}.`,
    `The statement is about another tree: ${commits[1]!.tree}.`,
  ]);
  expect(findings(envelope, { ...commits[1]!, tree: commits[0]!.tree })).toEqual([
    `The statement is about another tree: ${commits[1]!.tree}.`,
  ]);
  const another = resigned((statement) => {
    statement.predicateType = 'https://slsa.dev/provenance/v1';
  });
  expect(findings(another)).toEqual(['The statement is not about a commit: https://slsa.dev/provenance/v1.']);
  expect(findings(envelope, commits[1], entries.slice(1))).toEqual([
    '1 of the 2 calls that the statement counts are missing.',
  ]);
  const changed = [entries[0].replace('200', '201'), entries[1]];
  expect(findings(envelope, commits[1], changed)).toEqual([
    expect.stringContaining('A call was changed, added or left out'),
  ]);
});

describe('attestations in a git repository', () => {
  const program = path.join(folder, 'aep.js');
  const keys = path.join(folder, 'keys.json');
  const online = () => ({ AEP_URL: world.url, AEP_TOKEN: callers.owner.token });
  const note = (sha: string, message: string) => git('notes', '--ref=attestations', 'add', '-f', '-m', message, sha);
  const aep = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
    const own = { PATH: process.env.PATH, XDG_CONFIG_HOME: folder, AEP_URL: 'http://127.0.0.1:9', ...env };
    const child = spawn(process.execPath, [program, ...args], { cwd: repository, env: own });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: child.exitCode ?? (await new Promise((resolve) => child.once('close', resolve))), stdout, stderr };
  };
  let one: Json;
  let two: Json;
  let ofOne: string;
  let ofTwo: string;
  beforeAll(async () => {
    writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
    const { build } = await import('vite');
    const root = path.join(projectFolder, 'clients/cli');
    const [configFile, options] = [path.join(root, 'vite.config.ts'), { outDir: folder, emptyOutDir: false }];
    await build({ root, configFile, configLoader: 'runner', build: options, logLevel: 'silent' });
    await rotateAuditKey();
    writeFileSync(keys, JSON.stringify({ keys: await publicKeys() }));
    [one, two] = commits as [Json, Json];
    const shown = await Promise.all([one, two].map(({ sha }) => aep(online(), 'attestations', 'show', sha)));
    [ofOne, ofTwo] = shown.map(({ stdout }) => stdout) as [string, string];
  });

  it('`aep verify` checks a commit by its git note, offline, even after the signing key was replaced', async () => {
    expect(await aep({}, 'verify', '--keys', keys)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('git fetch origin'),
    });
    note(two.sha, ofTwo);
    note(one.sha, ofTwo);
    const calls = path.join(folder, 'calls.jsonl');
    writeFileSync(calls, (await aep(online(), 'attestations', 'calls', held.runId)).stdout);
    const valid = await aep({}, 'verify', '--keys', keys, '--calls', calls);
    expect([valid.code, valid.stderr]).toEqual([0, '']);
    expect(valid.stdout).toContain(`${two.sha} is attested by ${world.url}.`);
    expect(valid.stdout).toMatch(/^agent +builder, version 1 \(builder\), claude-code 2\.1\.330, claude-sonnet-4-5$/m);
    expect(valid.stdout).toMatch(/^calls +1 model, 0 tool, 1 network; root [0-9a-f]{64}$/m);
    expect(valid.stdout).toMatch(/^decisions +approve by the reviewer at \w{12}; approve by usr_\w+ at \w{12}$/m);
    // `aep verify` refuses the attestation of commit `two` in the note of commit `one`. With its own attestation in the note, commit `one` is
    // accepted, even after `git replace` has substituted commit `two` for it in this repository.
    const foreign = await aep({}, 'verify', one.sha, '--keys', keys, '--json');
    expect([foreign.code, JSON.parse(foreign.stdout).findings[0]]).toEqual([
      1,
      `The statement is about another commit: ${two.sha}.`,
    ]);
    note(one.sha, ofOne);
    git('replace', one.sha, two.sha);
    expect((await aep({ AEP_URL: world.url }, 'verify', 'HEAD^')).stdout).toContain(`${one.sha} is attested by`);
  });

  it('`aep trace` prints an Agent Trace record for each attested commit of a range', async () => {
    writeFileSync(path.join(repository, 'a.txt'), '++ first\na.txt\n++ b/third\n');
    writeFileSync(path.join(repository, 'ä"\t.txt'), 'no newline at the end');
    git('add', '.');
    git('commit', '-qm', 'Of a person');
    const trace = await aep({}, 'trace', 'main..HEAD', '--keys', keys);
    expect([trace.code, trace.stderr]).toEqual([0, '']);
    const records = trace.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map(({ vcs, files }) => [vcs.revision, files.map(({ path }: Json) => path)])).toEqual([
      [one.sha, ['a.txt']],
      [two.sha, ['b.txt']],
    ]);
    expect(records[1]).toEqual({
      version: '0.1.0',
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      vcs: { type: 'git', revision: two.sha },
      tool: { name: 'claude-code', version: '2.1.330' },
      files: [
        {
          path: 'b.txt',
          conversations: [
            {
              url: `${world.url}/v1/runs/${held.runId}`,
              contributor: { type: 'ai', model_id: 'anthropic/claude-sonnet-4-5' },
              related: [{ type: 'attestation', url: `${world.url}/v1/attestations/${two.sha}` }],
              ranges: [{ start_line: 1, end_line: 1 }],
            },
          ],
        },
      ],
      metadata: {
        'agent-engineering-platform': {
          ...{ run: held.runId, step: held.step.stepId, role: 'builder', agent: 'builder', agentVersion: 1 },
        },
      },
    });
  });

  it('`aep trace` refuses a commit without an attestation, or with the attestation of another commit', async () => {
    const own = git('rev-parse', 'HEAD');
    expect(await aep({}, 'trace', own, '--keys', keys)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`The notes of ${own}`),
    });
    // If the note of a commit contains the attestation of another commit, `aep trace` prints no origin for the lines of the commit.
    note(own, ofTwo);
    expect(await aep({}, 'trace', own, '--keys', keys)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`The statement is about another commit: ${two.sha}.`),
    });
  });

  it('the added lines of a commit are found, whatever its file names and lines contain', async () => {
    expect([...(await addedLines(repository, git('rev-parse', 'HEAD')))]).toEqual([
      [
        'a.txt',
        [
          { start_line: 1, end_line: 1 },
          { start_line: 3, end_line: 3 },
        ],
      ],
      ['ä"\t.txt', [{ start_line: 1, end_line: 1 }]],
    ]);
  });
});
