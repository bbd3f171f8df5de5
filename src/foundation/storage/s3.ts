// The storage in a bucket of Amazon S3 or a compatible server. The AWS client finds credentials in its standard places (AWS_ACCESS_KEY_ID
// …, a profile, the machine's role) and is loaded when the storage is first used. Permissions: s3:GetObject, PutObject, DeleteObject,
// ListBucket, AbortMultipartUpload, ListBucketMultipartUploads.
import { Readable } from 'node:stream';
import type { ListObjectsV2Output } from '@aws-sdk/client-s3';
import { minutes, seconds } from '../clock.ts';
import { loadedOnce } from '../loaded-once.ts';
import { badGateway, type Problem, tooLarge, unavailable } from '../problem.ts';
import { checkKey, type Storage } from './storage.ts';

/** The minimum part size of the protocol, and the number of concurrent parts. */
const partBytes = 5 * 1024 * 1024;
const concurrentParts = 2;
const maxSockets = 512;
/** Time limits in milliseconds, with the names of the AWS client's options. */
const timeouts = { connectionTimeout: seconds(3), requestTimeout: seconds(30), socketTimeout: minutes(1) };

/** Name and address of a bucket. */
export interface Bucket {
  name: string;
  /** Prefix of every key, without slashes around it; empty when the whole bucket is used. */
  prefix: string;
  /** Region of the bucket; absent means the client's own setting (AWS_REGION). */
  region: string | undefined;
  /** URL of the server; absent means Amazon's. */
  endpoint: string | undefined;
  /** Whether the bucket is part of the path instead of the host name. */
  pathStyle: boolean;
}

/**
 * Parses `s3://bucket/prefix?region=…&endpoint=…&path-style=on`; null for any other or repeated parameter. With an endpoint, the region
 * defaults to `us-east-1` and the bucket is part of the path, because self-hosted servers seldom have regions or a host name per bucket.
 */
export function readBucket(address: string): Bucket | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, username, password, pathname, searchParams, hash } = new URL(address);
  if (protocol !== 's3:' || port || username || password || hash) return null;
  const prefix = pathname.replace(/^\/|\/$/g, '');
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname) || !/^([\w.=-]+(\/[\w.=-]+)*)?$/.test(prefix)) return null;
  const { region, endpoint, 'path-style': style, ...unknown } = Object.fromEntries(searchParams);
  if (Object.keys(unknown).length > 0 || new Set(searchParams.keys()).size < searchParams.size) return null;
  if (region !== undefined && !/^[a-z0-9-]{1,50}$/.test(region)) return null;
  if (style !== undefined && style !== 'on' && style !== 'off') return null;
  return {
    name: hostname,
    prefix,
    region: region ?? (endpoint === undefined ? undefined : 'us-east-1'),
    endpoint,
    pathStyle: style === undefined ? endpoint !== undefined : style === 'on',
  };
}

/** A storage whose availability can be checked. */
export interface BucketStorage extends Storage {
  /** Checks that the storage can be used. @throws the problem that a use of the storage would cause now */
  check(): Promise<void>;
  /** The contents whose keys begin with these letters, in the order of their keys. */
  list(beginning: string): Promise<{ name: string; bytes: number }[]>;
}

export function bucketStorage(bucket: Bucket): BucketStorage {
  const { name: Bucket, prefix } = bucket;
  const open = loadedOnce(() => load(bucket));
  const placeOf = (key: string) => {
    checkKey(key);
    return { Bucket, Key: prefix ? `${prefix}/${key}` : key };
  };

  /** Sends a request; undefined when the key is unknown. An unknown bucket is an error. */
  async function ask<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket') return undefined;
      throw problemOf(error, bucket);
    }
  }

  return {
    async write(key, content, maxBytes) {
      const place = placeOf(key);
      const { client, Upload } = await open();
      const measured = measure(content, maxBytes);
      const params = { ...place, Body: Readable.from(measured.chunks()), ContentType: 'application/octet-stream' };
      try {
        // Content that fits into one part is sent in one request; otherwise a failure aborts the multipart upload.
        await new Upload({ client, params, partSize: partBytes, queueSize: concurrentParts }).done();
        return measured.size();
      } catch (error) {
        throw measured.failure()?.error ?? problemOf(error, bucket);
      }
    },
    async read(key, range) {
      const place = placeOf(key);
      const { client, GetObjectCommand } = await open();
      const Range = range && `bytes=${range.first}-${range.last}`;
      const answer = await ask(client.send(new GetObjectCommand({ ...place, ...(Range && { Range }) })));
      return (answer?.Body as Readable | undefined) ?? null;
    },
    async remove(key) {
      const place = placeOf(key);
      const s3 = await open();
      await ask(s3.client.send(new s3.DeleteObjectCommand(place)));
      const left = await ask(s3.client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: place.Key })));
      for (const { Key, UploadId } of left?.Uploads ?? []) {
        if (Key === place.Key) await ask(s3.client.send(new s3.AbortMultipartUploadCommand({ ...place, UploadId })));
      }
    },
    list: async (beginning) => (await ask(listKeys(await open(), bucket, beginning))) ?? [],
    async check() {
      const { client, ListObjectsV2Command } = await open();
      await ask(client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 })));
    },
  };
}

async function listKeys(
  { client, ListObjectsV2Command }: Awaited<ReturnType<typeof load>>,
  { name: Bucket, prefix }: Bucket,
  beginning: string,
) {
  const from = prefix ? `${prefix}/` : '';
  const found: { name: string; bytes: number }[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = { Bucket, Prefix: from + beginning, ...(ContinuationToken && { ContinuationToken }) };
    const answer: ListObjectsV2Output = await client.send(new ListObjectsV2Command(page));
    for (const { Key, Size } of answer.Contents ?? []) found.push({ name: Key!.slice(from.length), bytes: Size! });
    ContinuationToken = answer.NextContinuationToken;
  } while (ContinuationToken);
  return found;
}

/**
 * Counts the bytes of `content` during its upload, and throws if there are more than `maxBytes`. Also keeps this error, or an error that reading
 * `content` throws, so that the error is not mistaken for an error of the storage.
 */
function measure(content: AsyncIterable<Uint8Array>, maxBytes: number) {
  let size = 0;
  let failure: { error: unknown } | undefined;
  return {
    size: () => size,
    failure: () => failure,
    async *chunks() {
      let handedOn = false;
      try {
        for await (const chunk of content) {
          size += chunk.length;
          if (size > maxBytes) throw tooLarge(maxBytes);
          handedOn = true;
          yield chunk;
          handedOn = false;
        }
      } catch (error) {
        // If the storage stops reading early, it throws into this generator; that is not an error of the source.
        if (!handedOn) failure = { error };
        throw error;
      }
    },
  };
}

async function load({ region, endpoint, pathStyle }: Bucket) {
  const [s3, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const client = new s3.S3Client({
    ...(region && { region }),
    ...(endpoint && { endpoint }),
    forcePathStyle: pathStyle,
    // The client adds and checks no checksums unless they are required, because many servers do not support those of newer clients. The
    // signature contains a digest of every part anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    requestHandler: {
      ...timeouts,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
  });
  return { ...s3, client, Upload };
}

interface Raised extends Error {
  code?: unknown;
  $metadata?: { httpStatusCode?: number };
}

const statusOf = (error: unknown): number | undefined => (error as Raised).$metadata?.httpStatusCode;

/**
 * Converts an error of the bucket: 503 for a temporary error, 502 for an error that the operator must correct. The reason is logged, not sent to
 * the caller.
 */
function problemOf(error: unknown, { name: bucket, endpoint }: Bucket): Problem {
  const { name, message, code } = error as Raised;
  const status = statusOf(error);
  const passes =
    status === undefined
      ? name === 'TimeoutError' || /^E[A-Z]+$/.test(String(code))
      : status === 429 || name === 'RequestTimeout' || (status >= 500 && status !== 501);
  const problem = passes
    ? unavailable()
    : badGateway('The content storage rejected the request. The operator must correct its settings.');
  const where = endpoint ? `${bucket} at ${endpoint}` : bucket;
  // The new error has only the message of the old one, whose code (a refused connection) would be mistaken for an error of the database.
  return Object.assign(problem, { cause: new Error(`bucket ${where}: ${name} (${status ?? code}): ${message}`) });
}
