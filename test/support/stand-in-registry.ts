// A package registry on loopback, which speaks the protocol of npm: a document for each package, and its tarballs.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

interface Release {
  manifest: Record<string, unknown>;
  tarball: Buffer;
}
const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

export async function startRegistry() {
  const folder = mkdtempSync(path.join(tmpdir(), 'registry-'));
  const releases = new Map<string, Map<string, Release>>();
  const asked: string[] = [];
  /** Responses to requests for tarballs that the registry does not send yet, because a test holds them back. */
  const held: ServerResponse[] = [];
  let isHolding = false;
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url!);
    const [, name = '', file] = /^\/(.+?)(?:\/-\/(.+)\.tgz)?$/.exec(url) ?? [];
    const version = file?.replace(`${name}-`, '');
    const versions = releases.get(name);
    asked.push(url);
    if (!versions) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
    if (version) {
      if (isHolding) return held.push(response);
      return response.writeHead(200).end(versions.get(version)!.tarball);
    }
    const manifests = [...versions].map(([one, { manifest, tarball }]) => {
      const dist = { tarball: `${address}/${name}/-/${one}.tgz`, integrity: integrityOf(tarball) };
      return [one, { name, version: one, ...manifest, dist }];
    });
    const latest = manifests.at(-1)![0];
    const body = { name, 'dist-tags': { latest }, versions: Object.fromEntries(manifests) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: address,
    asked,
    held,
    hold: (holding: boolean) => {
      isHolding = holding;
    },
    tarballs: () => asked.filter((url) => url.endsWith('.tgz')),
    /** Publishes a package with one executable file. Returns the entry of this package for a lock file. */
    publish(name: string, version: string, file: string, content: string, manifest: Record<string, unknown> = {}) {
      const own = path.join(folder, `${name.replace('/', '-')}-${version}`, 'package');
      mkdirSync(path.join(own, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(own, 'package.json'), JSON.stringify({ name, version, ...manifest }));
      writeFileSync(path.join(own, file), content, { mode: 0o755 });
      const tarball = execFileSync('tar', ['-czC', path.dirname(own), 'package']);
      const versions = releases.get(name) ?? new Map<string, Release>();
      releases.set(name, versions.set(version, { manifest, tarball }));
      return { version, integrity: integrityOf(tarball), ...manifest };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}
