// URIs that may receive a code, and the match of a requested URI with a registered one (RFC 8252, RFC 9700;
// docs/contract.md#redirect-addresses).
import { describe, expect, it } from 'vitest';
import {
  isLoopbackRedirect,
  isSameRedirectUri,
  redirectUriError,
  withParameters,
} from '#domain/identity/oauth/redirect-uris.ts';

describe('valid redirect URIs', () => {
  it.each([
    'https://app.example/cb',
    'https://app.example',
    'https://app.example:8443/cb?x=1&y=%20',
    'https://[2001:db8::1]/cb',
    'https://xn--bcher-kva.example/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:54321/cb',
    'http://localhost/cb',
    'http://localhost:1/',
    'http://[::1]:8080/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/cb',
    'com.example.app:cb',
    'vscode://vscode.github-authentication/did-authenticate?x=1',
    `https://app.example/${'x'.repeat(1_980)}`,
  ])('the redirect URI %s is accepted', (uri) => {
    expect(redirectUriError(uri)).toBeNull();
  });
});

describe('invalid redirect URIs', () => {
  it.each([
    ['', 'absolute'],
    ['/cb', 'absolute'],
    ['//app.example/cb', 'absolute'],
    ['app.example/cb', 'absolute'],
    ['com.example.app:', 'absolute'],
    ['https:app.example/cb', 'host'],
    ['https:/app.example/cb', 'host'],
    ['https:///cb', 'host'],
    ['https://', 'absolute'],
    ['https://app.example/cb#', 'fragment'],
    ['https://app.example/cb#x', 'fragment'],
    ['com.example.app:/cb#x', 'fragment'],
    ['https://user@app.example/cb', 'user'],
    ['https://user:secret@app.example/cb', 'user'],
    ['http://localhost@evil.example/cb', 'user'],
    ['app://user@host/cb', 'user'],
    ['https://*.app.example/cb', 'wildcards'],
    ['https://app.example/*', 'wildcards'],
    ['https://app.example\\@evil.example/cb', 'wildcards'],
    ['https://app.example/c b', 'absolute'],
    ['https://app.example/\r\nSet-Cookie: x', 'absolute'],
    ['https://app.example/\0', 'absolute'],
    ['https://äpp.example/cb', 'absolute'],
    ['https://app.example;sandbox/cb', 'host'],
    ["https://app.example'/cb", 'host'],
    ['https://app.example:port/cb', 'absolute'],
    ['https://app.example:99999/cb', 'absolute'],
    ['http://app.example/cb', 'https'],
    ['http://127.0.0.1.evil.com/cb', 'https'],
    ['http://localhost.evil.com/cb', 'https'],
    ['http://0.0.0.0/cb', 'https'],
    ['http://127.0.0.2/cb', 'https'],
    ['http://2130706433/cb', 'https'],
    ['http://0x7f000001/cb', 'https'],
    ['http://0177.0.0.1/cb', 'https'],
    ['http://127.1/cb', 'https'],
    ['http://[::ffff:127.0.0.1]/cb', 'https'],
    ['http://10.0.0.1/cb', 'https'],
    ...'javascript data vbscript file blob about filesystem view-source ws wss ftp mailto tel chrome intent'
      .split(' ')
      .flatMap((scheme) => [
        [`${scheme}:alert(1)`, scheme],
        [`${scheme.toUpperCase()}://x/y`, scheme],
      ]),
    [`https://app.example/${'x'.repeat(1_981)}`, '2000 characters'],
  ])('the redirect URI %j is refused', (uri, word) => {
    expect(redirectUriError(uri)).toContain(word);
  });
});

describe('registered and requested redirect URIs', () => {
  it.each([
    ['https://app.example/cb?x=1', 'https://app.example/cb?x=1'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:54321/cb'],
    ['http://127.0.0.1:1/cb', 'http://127.0.0.1/cb'],
    ['http://localhost/callback', 'http://localhost:60123/callback'],
    ['http://[::1]/cb?x=1', 'http://[::1]:8080/cb?x=1'],
    ['http://127.0.0.1', 'http://127.0.0.1:8080'],
  ])('the registered redirect URI %s matches the requested %s', (registered, requested) => {
    expect(isSameRedirectUri(registered, requested)).toBe(true);
  });

  it.each([
    ['https://app.example/cb', 'https://app.example/cb/'],
    ['https://app.example/cb', 'https://app.example/cb?x=1'],
    ['https://app.example/cb', 'https://app.example:443/cb'],
    ['https://app.example/cb', 'https://APP.example/cb'],
    ['https://app.example/cb', 'https://app.example/cb/../cb'],
    ['https://app.example/cb', 'https://app.example/c%62'],
    ['https://127.0.0.1/cb', 'https://127.0.0.1:8443/cb'],
    ['http://127.0.0.1/cb', 'http://localhost:54321/cb'],
    ['http://localhost/cb', 'http://[::1]/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:54321/cb/'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:54321/cb?x=1'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:54321/CB'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:1@evil.example/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.com/cb'],
    ['com.example.app:/cb', 'com.example.app:/cb2'],
  ])('the registered redirect URI %s does not match the requested %s', (registered, requested) => {
    expect(isSameRedirectUri(registered, requested)).toBe(false);
  });

  it('redirect URIs with a loopback host are recognized as being on the person’s own machine', () => {
    expect(['http://127.0.0.1:1/cb', 'http://localhost', 'http://[::1]/'].map(isLoopbackRedirect)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['https://localhost/', 'app:/cb', 'https://app.example/'].map(isLoopbackRedirect)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('parameters in the query of a redirect URI', () => {
  it.each([
    ['https://app.example/cb', 'https://app.example/cb?code=a+b'],
    ['https://app.example/cb?x=1', 'https://app.example/cb?x=1&code=a+b'],
    ['https://app.example/cb?', 'https://app.example/cb?code=a+b'],
    ['com.example.app:cb', 'com.example.app:cb?code=a+b'],
  ])('a parameter is added to the query of %s', (uri, expected) => {
    expect(withParameters(uri, { code: 'a b' })).toBe(expected);
  });
});
