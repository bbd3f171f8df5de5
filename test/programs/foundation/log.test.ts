// The log: one JSON line per event, and no secret in any line, wherever the secret came from.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setClock } from '#foundation/clock.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { newId } from '#foundation/ids.ts';
import { type Log, openLog, redact } from '#foundation/log.ts';
import { newSecret } from '#foundation/secrets/secrets.ts';
import { projectFolder } from '../../support/processes.ts';

let text = '';
let log: Log;
const write = (line: string): void => {
  text += line;
};
const lines = () =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

beforeEach(() => {
  setClock(() => Date.UTC(2026, 10, 21, 9));
  text = '';
  log = openLog({ level: 'info', destination: { write } });
});
afterEach(() => setClock());

const exchange = (over: object = {}, res: object = {}): Exchange =>
  ({
    req: { method: 'GET', url: '/v1/projects/prj_1?code=abc', headers: { authorization: 'Bearer x' } },
    res: { headersSent: true, statusCode: 200, ...res },
    path: '/v1/projects/prj_1',
    search: 'code=abc',
    requestId: 'req_1',
    address: '127.0.0.1',
    route: '/projects/{projectId}',
    credentialId: 'tok_1',
    ...over,
  }) as unknown as Exchange;

it('a log line is JSON with level, time and message', () => {
  log.info({ port: 4000 }, 'listening');
  expect(text).toBe('{"level":"info","time":"2026-11-21T09:00:00.000Z","port":4000,"msg":"listening"}\n');
});

it('a log line is not written below the configured level', () => {
  log.debug('unheard');
  expect(text).toBe('');
});

it('a log line contains the outcome and the route of a request, but never its path', () => {
  log.request('rest', exchange(), 1.23456);
  expect(lines()).toEqual([
    {
      level: 'info',
      time: '2026-11-21T09:00:00.000Z',
      requestId: 'req_1',
      surface: 'rest',
      method: 'GET',
      route: '/projects/{projectId}',
      status: 200,
      ms: 1.23,
      address: '127.0.0.1',
      credentialId: 'tok_1',
      msg: 'request',
    },
  ]);
});

it('the log line of a request of a polling service is at debug level, unless the request fails', () => {
  const runtime = { credentialId: 'svc_1', route: '/graphql' };
  log.request('graphql', exchange(runtime), 1);
  expect(text).toBe('');
  for (const statusCode of [401, 503]) log.request('graphql', exchange(runtime, { statusCode }), 1);
  expect(lines().map(({ level }) => level)).toEqual(['info', 'error']);
  text = '';
  const chatty = openLog({ level: 'debug', destination: { write } });
  chatty.request('graphql', exchange(runtime), 1);
  expect(lines()).toMatchObject([{ level: 'debug', credentialId: 'svc_1', status: 200 }]);
});

it('a log line is short and readable in the format for terminals, and contains no secrets', () => {
  const pretty = openLog({ level: 'info', format: 'pretty', destination: { write } });
  pretty.info({ port: 4000, note: `Bearer ${newSecret('pat_')}` }, 'listening');
  pretty.request('rest', exchange(), 1.23456);
  pretty.request('none', exchange({ route: undefined }, { statusCode: 404 }), 1);
  pretty.print('\nSign in: http://localhost/sign-in/link?token=of-mine\n');
  pretty.failure(exchange(), new Error('no such table'));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors, if the test runs in a terminal
  const [listening, request, unknown, ...rest] = text.replace(/\u001b\[\d+m/g, '').split('\n');
  const time = '\\[\\d\\d:\\d\\d:\\d\\d\\]';
  expect(listening).toMatch(
    new RegExp(`^${time} INFO: listening \\{"port":4000,"note":"Bearer pat_\\[redacted\\]"\\}$`),
  );
  expect(request).toMatch(new RegExp(`^${time} INFO: GET /projects/\\{projectId\\} 200 1.23 ms$`));
  expect(unknown).toMatch(new RegExp(`^${time} INFO: GET \\(no such path\\) 404 1 ms$`));
  expect(rest.slice(0, 3)).toEqual(['', 'Sign in: http://localhost/sign-in/link?token=of-mine', '']);
  expect(rest.slice(3).join('\n').trimStart()).toMatch(
    new RegExp(`^${time} ERROR: request failed[^]*no such table[^]*at `),
  );
});

it('the log line of a request is an error for a status of 500 or above, and has the status 499 when the client disconnected before the response', () => {
  for (const res of [{ statusCode: 499 }, { statusCode: 500 }, { headersSent: false }]) {
    log.request('rest', exchange({}, res), 1);
  }
  expect(lines().map(({ level, status }) => [level, status])).toEqual([
    ['info', 499],
    ['error', 500],
    ['info', 499],
  ]);
});

it('a log line contains an error with its causes, but no other members of the error', () => {
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (email)=(a@b.c)' });
  const error = Object.assign(new TypeError('no insert', { cause }), { client: { password: 'x' } });
  log.failure(exchange(), error);
  expect(lines()).toEqual([
    {
      level: 'error',
      time: '2026-11-21T09:00:00.000Z',
      requestId: 'req_1',
      method: 'GET',
      route: '/projects/{projectId}',
      credentialId: 'tok_1',
      err: {
        name: 'TypeError',
        message: 'no insert',
        stack: error.stack,
        cause: { name: 'Error', message: 'duplicate key', code: '23505', stack: cause.stack },
      },
      msg: 'request failed',
    },
  ]);
});

it('the log line of a failure accepts any thrown value', () => {
  for (const thrown of ['words', null, undefined, 7]) log.failure(exchange(), thrown);
  expect(lines().map(({ err }) => err)).toEqual(['words', null, undefined, 7]);
});

const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg';
const ours = ['pat_', 'agt_', 'oat_', 'ort_', 'clm_', 'cvt_', 'srv_', 'new_', ''] as const;

it.each(ours)(
  'a secret with the prefix %j is masked in a log line: as a message, in a member, in a list, in a stack, in a cause',
  (prefix) => {
    // The characters of a secret are random, and a fault might appear only with certain first and last characters. So the test masks many secrets.
    for (let i = 0; i < 200; i++) {
      const secret = newSecret(prefix);
      const error = new Error(`refused ${secret}`, { cause: new Error(`'${secret}'`) });
      log.error(
        { err: error, given: secret, deep: { list: [secret] }, url: `https://x.example/a/${secret}?b=${secret}` },
        secret,
      );
      expect(text).not.toContain(secret.slice(prefix.length + 4, -4));
      text = '';
    }
  },
);

it('a shortened secret is masked in a log line', () => {
  const secret = newSecret('pat_');
  log.info(`token ${secret.slice(0, 16)}…`);
  expect(lines()[0].msg).toBe('token pat_[redacted]…');
});

it('a JWT is masked in a log line, signed or not', () => {
  const [head, body] = jwt.split('.');
  log.info({ sent: jwt, unsigned: `${head}.${body}.` }, `assertion ${jwt}`);
  expect(text).not.toContain(head);
  expect(text).not.toContain(body);
});

it.each([
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'token',
  'access_token',
  'accessToken',
  'refresh_token',
  'claim_token',
  'id_token',
  'assertion',
  'identity_assertion',
  'client_assertion',
  'password',
  'secret',
  'client_secret',
  'clientSecret',
  'secretKey',
  'credentials',
  'user_code',
  'userCode',
  'code_verifier',
])('a member called %s is masked in a log line, wherever it is and whatever it holds', (name) => {
  const hidden = 'hun"ter\\2';
  log.info({ [name]: hidden, req: { headers: { [name]: [hidden, 'hun'] } }, after: 'kept' });
  expect(text).not.toContain('hun');
  expect(lines()[0]).toMatchObject({
    [name]: '[redacted]',
    req: { headers: { [name]: '[redacted]' } },
    after: 'kept',
  });
});

it.each(['123456', 'WDJB-MJHT', 'WDJBMJHT', 'a1b2c3d4', 'kq3Zr-0bT_9Lx2'])(
  'a code such as %s is masked in a log line',
  (code) => {
    log.info({ code, body: { code } });
    expect(lines()[0]).toMatchObject({ code: '[redacted]', body: { code: '[redacted]' } });
  },
);

it.each(['23505', '08P01', 'ECONNREFUSED', 'ERR_STREAM_DESTROYED', 'missing_scope'])(
  'an error code is not masked in a log line: %s stays',
  (code) => {
    log.info({ code });
    expect(lines()[0].code).toBe(code);
  },
);

it.each([
  ['a query', 'GET /callback?code=s3cr3t&state=1', 'GET /callback?code=[redacted]&state=1'],
  ['a form', 'grant_type=x&assertion=s3cr3t', 'grant_type=x&assertion=[redacted]'],
  ['a link', 'https://x.example/link?token=s3cr3t', 'https://x.example/link?token=[redacted]'],
  ['a header', 'authorization was bearer s3cr3ts3cr3t', 'authorization was bearer [redacted]'],
  ['a quoted body', 'at {"token":"s3cr3t"} in', 'at {"token":"[redacted]"} in'],
  ['a database address', 'postgres://app:s3cr3t@db/app', 'postgres://[redacted]@db/app'],
  ['an email address of a server', 'smtps://u%40x:s3cr3t@mail', 'smtps://[redacted]@mail'],
])('a secret is masked in a log line even in %s', (_, message, cleaned) => {
  log.info(message);
  expect(lines()[0].msg).toBe(cleaned);
  expect(redact(message)).toBe(cleaned);
});

it.each([
  newId('token'),
  newId('organization'),
  'usr_0193f0c2a1b2c3d4e5f60718293a4b5c',
  'a7c1e0f2b3d4c5b6a7988d7c6b5a4f3e2d1c0b9a',
  '3e25960a79dbc69b674cd4ec67a72c62cfb1ecd6bb2bcd68fd4ec2cf1e2a0f11',
  'insert into projects_of_organizations_with_very_long_names values',
  'cursor: must be the nextCursor of this list with the same filter.',
  'The bearer token is malformed, unknown, expired, revoked or issued for another resource.',
  'https://api.example/v1/projects',
  'mail to alice@example.com is in the development mailbox: Your sign-in code is 123456',
])('%s is not masked in a log line', (message) => {
  log.info(message);
  expect(lines()[0].msg).toBe(message);
});

describe('Log lines on standard output', () => {
  const command = (program: string) => {
    const code = `import { openLog } from '#foundation/log.ts'; const log = openLog({ level: 'info' }); ${program}`;
    return [
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', code],
      { cwd: projectFolder, encoding: 'utf8' },
    ] as const;
  };

  it('log lines on standard output are all written before the process ends, even on process.exit', () => {
    const { stdout } = spawnSync(...command('for (let i = 0; i < 5000; i++) log.info({ i }); process.exit(0)'));
    const written = stdout.trimEnd().split('\n');
    expect(written).toHaveLength(5_000);
    expect(JSON.parse(written.at(-1)!).i).toBe(4_999);
  });

  it('log lines on standard output are written without waiting for further lines or for the end of the process', async () => {
    const child = spawn(...command("log.info('one'); setInterval(() => {}, 1_000)"));
    const [line] = await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    expect(String(line)).toContain('"msg":"one"');
  });
});
