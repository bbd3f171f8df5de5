// Files of the service's pages: compressed once, addressed by their content, cached by the browser for a year (RFC 9111 §5.2, RFC 8246).
// Pages load nothing from other servers.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { loadedOnce } from '../loaded-once.ts';
import { answer, type Exchange, type Headers } from './http.ts';
import { isNotModified } from './http-cache.ts';

export interface AssetSource {
  type: string;
  content: string | Buffer;
}

interface Asset {
  type: string;
  version: string;
  /** Only the compressed form is stored; it is decompressed for clients without gzip. */
  packed: Buffer;
}

export interface Assets<N extends string> {
  /** The URL of each file, including the version of its content. */
  addresses(): Promise<Record<N, string>>;
  /** Sends the file, or returns false for an unknown name. @param headers Additional response headers, such as the policy of a page */
  answer(exchange: Exchange, name: string, headers?: Headers): Promise<boolean>;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * A set of files below `base`, read and compressed at the first request. Files that import one another are `namedByContent`: their name
 * contains the version, because a module with two URLs would run twice.
 */
export function assets<N extends string>(
  base: string,
  load: () => Promise<Record<N, AssetSource>>,
  { namedByContent = false } = {},
): Assets<N> {
  const all = loadedOnce(async () => {
    const files = Object.entries<AssetSource>(await load());
    const packed = files.map(async ([name, { type, content }]) => {
      const version = createHash('sha256').update(content).digest('base64url').slice(0, 16);
      return [name, { type, version, packed: await compress(content, { level: 9 }) }] as const;
    });
    return new Map(await Promise.all(packed));
  });

  return {
    async addresses() {
      const suffix = ({ version }: Asset) => (namedByContent ? '' : `?v=${version}`);
      const entries = [...(await all())].map(([name, asset]) => [name, `${base}/${name}${suffix(asset)}`]);
      return Object.fromEntries(entries) as Record<N, string>;
    },
    async answer(exchange, name, headers = {}) {
      const asset = (await all()).get(name);
      const isVersioned = namedByContent || (asset !== undefined && exchange.search === `v=${asset.version}`);
      if (asset) await answerAsset(exchange, asset, isVersioned, headers);
      return asset !== undefined;
    },
  };
}

async function answerAsset(
  exchange: Exchange,
  { type, version, packed }: Asset,
  isVersioned: boolean,
  more: Headers,
): Promise<void> {
  const etag = `W/"${version}"`;
  const headers = {
    ...more,
    etag,
    vary: 'accept-encoding',
    'cache-control': isVersioned ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    'cross-origin-resource-policy': 'same-origin',
  };
  if (isNotModified(exchange, etag)) return answer(exchange, 304, undefined, headers);
  const body = { ...headers, 'content-type': type };
  if (/\bgzip\b(?!\s*;\s*q=0(?![.\d]))/.test(String(exchange.req.headers['accept-encoding'] ?? ''))) {
    return answer(exchange, 200, packed, { ...body, 'content-encoding': 'gzip' });
  }
  answer(exchange, 200, await decompress(packed), body);
}
