// The parser of the config file: declared servers, and rejected files.
import { describe, expect, it } from 'vitest';
import { InvalidConfig, maxFileBytes, parseConfig } from '#domain/execution/mcp-servers/declared.ts';

const secret = (name: string): string => `\${secret:${name}}`;
const parse = (servers: unknown) => parseConfig(JSON.stringify({ mcpServers: servers }));
const wrong = (text: string): string => {
  try {
    parseConfig(text);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidConfig);
    return (error as Error).message;
  }
  return 'was accepted';
};
const wrongServer = (server: unknown): string => wrong(JSON.stringify({ mcpServers: { a: server } }));

describe('servers in the file of MCP servers', () => {
  it('YAML and JSON are read alike; a server’s URL is split into origin and path, and only the names of its headers are shown', () => {
    const { servers, warnings } = parseConfig(
      `mcpServers:\n  issues:\n    type: http\n    url: https://mcp.example.com:8443/v1/mcp\n    headers: { X-Tenant: "${secret('TENANT')}" }\n`,
    );
    expect(warnings).toEqual([]);
    expect(servers[0]).toMatchObject({
      name: 'issues',
      transport: 'http',
      origin: 'https://mcp.example.com:8443',
      path: '/v1/mcp',
      headerNames: ['X-Tenant'],
      secretRefs: ['TENANT'],
    });
  });

  it('a file without MCP servers declares none, and its other parts are ignored', () => {
    for (const text of ['', '# nothing', 'name: shop', 'mcpServers:', 'mcpServers: {}']) {
      expect(parseConfig(text)).toEqual({ servers: [], warnings: [] });
    }
  });

  it.each([
    ['npx', ['-y', '@scope/files@1.2.3'], 'sandbox', '@scope/files@1.2.3', null],
    ['npx', ['--package=files@1.2.3', 'files', '--all'], 'sandbox', 'files@1.2.3', null],
    ['bunx', ['files@1.2.3-beta.1'], 'sandbox', 'files@1.2.3-beta.1', null],
    ['node', ['tools/server.js'], 'sandbox', null, null],
    ['npx', ['-y', 'files'], 'refused', null, 'unpinned'],
    ['npx', ['files@latest'], 'refused', null, 'unpinned'],
    ['npx', ['files@^1.2.3'], 'refused', null, 'unpinned'],
    ['npx', ['-p', 'files@1.2.3', '-p', 'other', 'files'], 'refused', null, 'unpinned'],
    ['npx', ['--registry', 'https://evil.example', 'files@1.2.3'], 'refused', null, 'unpinned'],
    ['npx', ['github:a/b#1.2.3'], 'refused', null, 'unpinned'],
    ['npx', ['-y', 'files@1.2.3', '-c', 'rm -rf /'], 'refused', null, 'shell'],
    ['npx', [], 'refused', null, 'unpinned'],
    ['node', ['-e', 'evil()'], 'refused', null, 'shell'],
    ['node', ['../outside.js'], 'refused', null, 'unpinned'],
    ['node', ['/etc/evil.js'], 'refused', null, 'unpinned'],
    ['python3', ['server.py'], 'refused', null, 'python'],
    ['uvx', ['mcp-server@1.2.3'], 'refused', null, 'python'],
    ['/usr/bin/python3.12', ['server.py'], 'refused', null, 'python'],
    ['bash', ['-c', 'npx files@1.2.3'], 'refused', null, 'shell'],
    ['docker', ['run', 'image'], 'refused', null, 'unknown-command'],
    ['./npx', ['files@1.2.3'], 'refused', null, 'unknown-command'],
  ])('the isolation of an MCP server that runs %s %j is %s', (command, args, kind, packageSpec, reason) => {
    expect(parse({ a: { command, args } }).servers[0]!.isolation).toEqual({ kind, packageSpec, reason });
  });

  it('a literal secret of an MCP server is never shown, and causes a warning', () => {
    const literal = 'hunter2-literal';
    const { servers, warnings } = parse({
      a: { url: 'https://a.example/', headers: { Authorization: `Bearer ${literal}` } },
      b: {
        command: 'npx',
        args: [
          'b@1.0.0',
          '--api-key',
          literal,
          `--token=${literal}`,
          '-H',
          `Authorization: Bearer ${literal}`,
          'ghp_x',
        ],
        env: { KEY: literal },
        note: literal,
      },
    });
    const shown = servers.map(({ headers: _, launch: __, ...rest }) => rest);
    expect(JSON.stringify([shown, warnings])).not.toContain(literal);
    expect(servers[1]!.displayArgs).toEqual([
      'b@1.0.0',
      '--api-key',
      '[hidden]',
      '--token=[hidden]',
      '-H',
      '[hidden]',
      '[hidden]',
    ]);
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual([
      'mcpServers.a.headers.Authorization',
      'mcpServers.b',
      'mcpServers.b.env.KEY',
      'mcpServers.b.args.2',
      'mcpServers.b.args.3',
      'mcpServers.b.args.5',
      'mcpServers.b.args.6',
    ]);
  });

  it.each(['a', 'A1_-', '0', 'constructor', 'x'.repeat(64)])('the MCP server name %s is accepted', (name) => {
    expect(parse({ [name]: { url: 'https://a.example/' } }).servers[0]!.name).toBe(name);
  });

  it.each(['', '_a', '-a', 'a b', 'ä', 'a.b', '__proto__', 'x'.repeat(65)])(
    'the MCP server name %j is refused',
    (name) => {
      expect(wrong(`{"mcpServers": {${JSON.stringify(name)}: {"url": "https://a.example/"}}}`)).toContain(
        'a name must be',
      );
    },
  );
});

describe('limits of the file of MCP servers', () => {
  const anchors = 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n';
  it.each([
    ['aliases that expand exponentially', anchors, 'must not contain'],
    ['an anchor alone', 'a: &x 1', 'not contain anchors'],
    ['an alias in another part', 'other: &x 1\nmore: *x\nmcpServers: {}', 'must not contain'],
    ['a merge key', 'a: &x {b: 1}\nc:\n  <<: *x', 'must not contain'],
    ['a tag', 'mcpServers: !!map {}', 'not contain tags'],
    ['a tag for a JavaScript type', 'a: !!js/function "x"', 'tag'],
    ['a duplicate key', 'mcpServers: {}\nmcpServers: {}', 'the key "mcpServers" twice'],
    [
      'a duplicate server',
      '{"mcpServers": {"a": {"url": "https://a.example"}, "a": {"url": "https://b.example"}}}',
      'twice',
    ],
    ['a key that is a list', '[a, b]: 1', 'plain strings'],
    ['two documents', 'a: 1\n---\nb: 2', 'not valid YAML'],
    ['brackets that are not closed', '['.repeat(100_000), 'nested too deeply'],
    ['brackets that are closed', '['.repeat(50_000) + ']'.repeat(50_000), 'nested too deeply'],
    ['lists within lists', '- '.repeat(100_000), 'nested too deeply'],
    ['keys within keys', '? '.repeat(100_000), 'nested too deeply'],
    ['maps within maps', '{a: '.repeat(50_000), 'nested too deeply'],
    [
      'ever deeper indentation',
      Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
      'nested too deeply',
    ],
    ['a list', '- a', 'must be a mapping'],
    ['plain text', 'just words', 'must be a mapping'],
    ['servers that are a list', 'mcpServers: [a]', 'mcpServers: must be a mapping'],
    ['more bytes than the maximum', `# ${'x'.repeat(maxFileBytes)}`, 'more than 262144 bytes'],
  ])('a file of MCP servers with %s is refused', (_, text, words) => {
    const message = wrong(text);
    expect(message).not.toBe('was accepted');
    expect(message).toContain(words);
  });

  it('a file of 50 MCP servers is accepted, and one of 51 is refused', () => {
    const servers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, { url: 'https://a.example/' }]));
    expect(parse(servers(50)).servers).toHaveLength(50);
    expect(wrong(JSON.stringify({ mcpServers: servers(51) }))).toContain('at most 50 servers');
  });

  it('the time to parse a file of MCP servers is linear in the number of its keys', () => {
    /** Microseconds of CPU of the faster of two runs. */
    const cost = (keys: number): number => {
      const text = Array.from({ length: keys }, (_, i) => `k${i}: 1`).join('\n');
      const times = [1, 2].map(() => {
        const before = process.cpuUsage();
        parseConfig(text);
        return process.cpuUsage(before).user;
      });
      return Math.min(...times);
    };
    cost(1_000);
    // Parsing four times as many keys takes 4 times as long in linear time, and 16 times if each key is compared with all others.
    expect(cost(12_000) / cost(3_000)).toBeLessThan(10);
  });

  it.each([
    [{}, 'either url or command'],
    [{ url: 'https://a.example/', command: 'npx' }, 'either url or command'],
    [{ url: 'ftp://a.example/' }, 'url: must be'],
    [{ url: 'https://user:pass@a.example/' }, 'url: must be'],
    [{ url: 'https://a.example/?key=1' }, 'url: must be'],
    [{ url: 5 }, 'url: must be'],
    [{ type: 'sse', url: 'https://a.example/' }, 'type: must be http'],
    [{ command: '' }, 'command: must be'],
    [{ command: 'npx', args: 'files' }, 'args: must be'],
    [{ url: 'https://a.example/', headers: { Host: 'b.example' } }, 'set by the protocol; remove this header'],
    [{ url: 'https://a.example/', headers: { 'Mcp-Session-Id': '1' } }, 'set by the protocol; remove this header'],
    [{ url: 'https://a.example/', headers: { A: 'x\r\nB: y' } }, 'one line of printable'],
    [{ url: 'https://a.example/', headers: { 'A B': 'x' } }, 'a name may contain only letters'],
    [{ url: 'https://a.example/', headers: { A: { b: 1 } } }, 'must be a string'],
    [{ url: 'https://a.example/', headers: { A: '$' + '{HOME}' } }, `only as ${secret('NAME')}`],
    ['npx files@1.2.3', 'must be a mapping'],
  ])('the MCP server %j is refused', (server, words) => {
    expect(wrongServer(server)).toContain(words);
  });

  it('error messages quote nothing from the file of MCP servers', () => {
    expect(wrong('token: hunter2\n  bad: [hunter2')).not.toContain('hunter2');
  });
});
