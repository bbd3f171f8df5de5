// Writes one object to a bucket of an organization, with the organization's credentials. Unlike in the service's own storage (s3.ts), the
// requests of the AWS client go through outbound.ts, because callers choose the server.
import { Readable } from 'node:stream';
import { OutboundError, openResponse } from '../http/outbound.ts';
import type { Bucket } from './s3.ts';

export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface BucketObject {
  bucket: Bucket;
  /** The address of the server that was checked. */
  server: string;
  credentials: BucketCredentials;
  /** The key below the prefix of the bucket. */
  key: string;
  text: string;
  signal: AbortSignal;
}

/** A request that the AWS client has built, with only the fields that `putObject` sends. */
interface ClientRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string>;
  method: string;
  headers: Record<string, string>;
}

/** Writes the object, or replaces it. Returns the status of the answer. @throws OutboundError as `openResponse` does */
export async function putObject({ bucket, server, credentials, key, text, signal }: BucketObject): Promise<number> {
  const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { name: Bucket, prefix, region, pathStyle } = bucket;
  let failure: unknown;
  const handle = async ({ protocol, hostname, port, path, query = {}, headers }: ClientRequest) => {
    const search = new URLSearchParams(query).toString();
    const address = `${protocol}//${hostname}${port ? `:${port}` : ''}${path}${search && `?${search}`}`;
    try {
      requireServer(address, server, Bucket);
      const answer = await openResponse(address, { method: 'PUT', headers, text, signal });
      // The body of the response is discarded, because the status suffices.
      answer.destroy();
      return { response: { statusCode: answer.statusCode!, headers: {}, body: Readable.from([]) } };
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  const client = new S3Client({
    ...{ region, endpoint: server, credentials, forcePathStyle: pathStyle, maxAttempts: 1 },
    // The settings of the operator (AWS_ENDPOINT_URL, AWS_USE_FIPS_ENDPOINT, a profile …) are only for the service's own storage.
    ...{ ignoreConfiguredEndpointUrls: true, useDualstackEndpoint: false, useFipsEndpoint: false },
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
    expectContinueHeader: false,
    requestHandler: { handle, destroy() {}, updateHttpClientConfig() {}, httpHandlerConfigs: () => ({}) } as never,
  });
  const place = { Bucket, Key: prefix ? `${prefix}/${key}` : key };
  try {
    const { $metadata } = await client.send(
      new PutObjectCommand({ ...place, Body: text, ContentType: 'application/x-ndjson' }),
    );
    return $metadata.httpStatusCode!;
  } catch (error) {
    const { httpStatusCode } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {};
    if (failure === undefined && httpStatusCode !== undefined) return httpStatusCode;
    throw failure ?? error;
  }
}

/**
 * Refuses a request that the AWS client would send to another server than the checked one. The name of the bucket may precede the host name
 * of the server. @throws OutboundError
 */
function requireServer(address: string, server: string, bucket: string): void {
  const [{ protocol, host }, checked] = [new URL(address), new URL(server)];
  if (protocol === checked.protocol && (host === checked.host || host === `${bucket}.${checked.host}`)) return;
  throw new OutboundError(`${host} is not the server of the URL that was checked`);
}
