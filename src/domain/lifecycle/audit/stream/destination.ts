// Destinations of the audit log: an https collector with a bearer token, or a bucket with keys. Error messages contain the status of a
// response or the kind of failure, never text from the destination.
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import { checkAddress, OutboundError, openResponse } from '#foundation/http/outbound.ts';
import { delayOf, reasonOf } from '#foundation/http/outbound-failures.ts';
import { invalid } from '#foundation/problem.ts';
import { type Bucket, readBucket } from '#foundation/storage/s3.ts';
import { type BucketCredentials, putObject } from '#foundation/storage/s3-put.ts';

/** Time limit for a destination's response. */
const answerMs = seconds(15);
const checkMs = seconds(5);
const maxRetryAfterMs = hours(1);

export type Destination = { kind: 'collector'; address: string } | { kind: 'bucket'; bucket: Bucket; server: string };
export type DestinationSecret = { token: string } | BucketCredentials;

/** Parses the URL of a destination. @throws 400 */
export function destinationOf(address: string): Destination {
  const bucket = readBucket(address);
  if (bucket) {
    const { region, endpoint } = bucket;
    if (region === undefined)
      throw invalid.field('address', 'must name the region of the bucket: s3://bucket/prefix?region=REGION');
    return { kind: 'bucket', bucket, server: endpoint ?? serverIn(region) };
  }
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw invalid.field(
      'address',
      'must be an https URL, or s3://bucket/prefix?region=REGION with no other parameters than endpoint and path-style',
    );
  }
  return { kind: 'collector', address };
}

/** Amazon's server for a region; servers in China have a separate domain. */
const serverIn = (region: string): string =>
  `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** Identifies the receiver of the secret: a server, or a bucket on it. A stored secret is never sent to a different receiver. */
export const receiverOf = (destination: Destination): string =>
  destination.kind === 'bucket'
    ? `${destination.server} ${destination.bucket.name}`
    : new URL(destination.address).origin;

/** Checks that the destination's host is public. @throws 400 for a host that is unknown or not public */
export async function requirePublicDestination(destination: Destination): Promise<void> {
  try {
    const server = destination.kind === 'bucket' ? destination.server : destination.address;
    await checkAddress(server, AbortSignal.timeout(checkMs));
  } catch (error) {
    // The message of the error may reveal addresses of the internal network.
    if (error instanceof OutboundError) throw invalid.field('address', 'must be an https URL of a public host');
    throw error;
  }
}

export interface Batch {
  /** The lines of the batch, each ended by a line feed. */
  text: string;
  /** The key of the object in a bucket. It contains the date of the attempt, so a repeated batch may have a different key. */
  key: string;
}

/** Error when the destination did not accept a batch. Members of the organization see its message. */
export class NotAccepted extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Sends a batch. @throws NotAccepted unless the response status is 2xx */
export async function sendBatch(destination: Destination, secret: DestinationSecret, batch: Batch): Promise<void> {
  const signal = AbortSignal.timeout(answerMs);
  const { status, retryAfter } = await send(destination, secret, batch, signal).catch((error) => {
    throw new NotAccepted(reasonOf(error, { signal, timeoutMs: answerMs }));
  });
  if (status >= 200 && status <= 299) return;
  const isRedirect = status >= 300 && status <= 399;
  const wait = Math.min(delayOf(retryAfter, now()) ?? 0, maxRetryAfterMs);
  throw new NotAccepted(`It answered ${status}${isRedirect ? '; redirects are not followed' : ''}.`, wait);
}

async function send(destination: Destination, secret: DestinationSecret, { text, key }: Batch, signal: AbortSignal) {
  if (destination.kind === 'bucket') {
    const credentials = secret as BucketCredentials;
    const { bucket, server } = destination;
    return { status: await putObject({ bucket, server, credentials, key, text, signal }), retryAfter: undefined };
  }
  const { token } = secret as { token: string };
  const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` };
  const answer = await openResponse(destination.address, { method: 'POST', headers, text, signal });
  // Only the response's status matters, so its body is not read.
  answer.destroy();
  return { status: answer.statusCode!, retryAfter: answer.headers['retry-after'] };
}

/** Delay after consecutive failures: 5 s, doubled each time, up to ten minutes. */
export const delayAfter = (failures: number): number => Math.min(seconds(5) * 2 ** Math.min(failures, 20), minutes(10));
