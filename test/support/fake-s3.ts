// A stand-in for S3: objects in memory behind the REST protocol, over real HTTP. It verifies the signature of every request (AWS
// Signature Version 4, "Authenticating Requests: Using the Authorization Header") and the digest of the body, and rejects additions
// of newer clients (checksums, trailers), like servers that do not know them.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type S3 = Awaited<ReturnType<typeof openS3>>;

/** An error response, by its code. */
class Fault extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message = `This is ${code}.`) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface Upload {
  place: string;
  parts: Map<number, { etag: string; body: Buffer }>;
}

interface Asked {
  req: IncomingMessage;
  body: Buffer;
  bucket: string;
  key: string;
  query: URLSearchParams;
}

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

const leastPart = 5 * 1024 * 1024;
const hex = (algorithm: string, data: Buffer | string): string => createHash(algorithm).update(data).digest('hex');
const hmac = (key: Buffer | string, data: string): Buffer => createHmac('sha256', key).update(data).digest();

function forgetEnvironment(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
}

/** Opens the stand-in, and sets the environment variables from which the client reads its credentials until the stand-in is closed. */
export async function openS3(bucket = 'proofs') {
  const credentials = { accessKeyId: 'AKSTANDIN', secretAccessKey: 'a/secret+of=the-stand-in' };
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Upload>();
  /** Operations of the requests, in order. */
  const asked: string[] = [];
  /** Number of requests being received, and its maximum. */
  const load = { now: 0, most: 0 };
  const failures: { operation: string; status: number; code: string }[] = [];

  const server = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const environment = Object.entries(process.env).filter(([name]) => name.startsWith('AWS_'));
  forgetEnvironment();
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    load.most = Math.max(load.most, ++load.now);
    res.on('close', () => load.now--);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const { status = 200, headers, body = '' } = answerTo(req, Buffer.concat(chunks));
      res.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
      res.end(body);
    } catch (error) {
      const { status, code, message } = error instanceof Fault ? error : new Fault(500, 'InternalError', String(error));
      res.writeHead(status, { 'content-type': 'application/xml' });
      res.end(`${xml}<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
    }
  }

  function answerTo(req: IncomingMessage, body: Buffer): Answer {
    const { pathname, searchParams: query } = new URL(req.url!, endpoint);
    const [, first = '', ...rest] = pathname.split('/').map(decodeURIComponent);
    const one: Asked = { req, body, bucket: first, key: rest.join('/'), query };
    const name = operationOf(one);
    asked.push(name);
    authenticate(req, body, credentials);
    const unknown = Object.keys(req.headers).find((header) => /^x-amz-(checksum|sdk-checksum|trailer)/.test(header));
    if (unknown) throw new Fault(501, 'NotImplemented', `${unknown} is not implemented here`);
    const failing = failures.findIndex(({ operation }) => operation === name);
    if (failing >= 0) {
      const [{ status, code }] = failures.splice(failing, 1) as [(typeof failures)[number]];
      throw new Fault(status, code);
    }
    if (one.bucket !== bucket) throw new Fault(404, 'NoSuchBucket', 'The specified bucket does not exist');
    return operations[name]!(one);
  }

  const placeOf = ({ bucket, key }: Asked): string => `${bucket}/${key}`;
  function uploadOf(one: Asked): [string, Upload] {
    const id = one.query.get('uploadId')!;
    const upload = uploads.get(id);
    if (upload?.place !== placeOf(one)) throw new Fault(404, 'NoSuchUpload');
    return [id, upload];
  }

  const operations: Record<string, (one: Asked) => Answer> = {
    PutObject(one) {
      objects.set(placeOf(one), one.body);
      return { headers: { etag: `"${hex('md5', one.body)}"` } };
    },
    GetObject(one) {
      const object = objects.get(placeOf(one));
      if (!object) throw new Fault(404, 'NoSuchKey', 'The specified key does not exist.');
      const range = /^bytes=(\d+)-(\d+)$/.exec(one.req.headers.range ?? '');
      if (!range) return { body: object };
      const [from, to] = [Number(range[1]), Math.min(Number(range[2]), object.length - 1)];
      if (from >= object.length) throw new Fault(416, 'InvalidRange');
      const headers = { 'content-range': `bytes ${from}-${to}/${object.length}` };
      return { status: 206, headers, body: object.subarray(from, to + 1) };
    },
    DeleteObject(one) {
      objects.delete(placeOf(one));
      return { status: 204 };
    },
    ListObjectsV2: ({ bucket, query }) => {
      const keys = [...objects.keys()].filter((place) => place.startsWith(`${bucket}/${query.get('prefix') ?? ''}`));
      // If the request does not set `max-keys`, the response contains only one key, and the service has to request the next page.
      const [from, limit] = [Number(query.get('continuation-token') ?? 0), Number(query.get('max-keys') ?? 1)];
      const listed = keys.sort().slice(from, from + limit);
      const contents = listed.map(
        (place) =>
          `<Contents><Key>${place.slice(bucket.length + 1)}</Key><Size>${objects.get(place)!.length}</Size></Contents>`,
      );
      const more = from + limit < keys.length && `<NextContinuationToken>${from + limit}</NextContinuationToken>`;
      return document('ListBucketResult', `<KeyCount>${listed.length}</KeyCount>${contents.join('')}${more || ''}`);
    },
    CreateMultipartUpload(one) {
      const id = randomUUID();
      uploads.set(id, { place: placeOf(one), parts: new Map() });
      return document('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`);
    },
    UploadPart(one) {
      const etag = `"${hex('md5', one.body)}"`;
      uploadOf(one)[1].parts.set(Number(one.query.get('partNumber')), { etag, body: one.body });
      return { headers: { etag } };
    },
    CompleteMultipartUpload(one) {
      const [id, { place, parts }] = uploadOf(one);
      const named = [...one.body.toString().matchAll(/<Part>.*?<\/Part>/g)].map(([part]) => ({
        number: Number(/<PartNumber>(\d+)</.exec(part)![1]),
        etag: /<ETag>(.*?)</.exec(part)![1]!.replaceAll('&quot;', '"'),
      }));
      const bodies = named.map(({ number, etag }, i) => {
        const part = parts.get(number);
        if (number !== i + 1 || part?.etag !== etag) throw new Fault(400, 'InvalidPart');
        if (i < named.length - 1 && part.body.length < leastPart) throw new Fault(400, 'EntityTooSmall');
        return part.body;
      });
      objects.set(place, Buffer.concat(bodies));
      uploads.delete(id);
      return document('CompleteMultipartUploadResult', `<ETag>"${named.length}"</ETag>`);
    },
    AbortMultipartUpload(one) {
      uploads.delete(uploadOf(one)[0]);
      return { status: 204 };
    },
    ListMultipartUploads({ bucket, query }) {
      const found = [...uploads].filter(([, { place }]) => place.startsWith(`${bucket}/${query.get('prefix') ?? ''}`));
      const entries = found.map(
        ([id, { place }]) =>
          `<Upload><Key>${place.slice(bucket.length + 1)}</Key><UploadId>${id}</UploadId><Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>`,
      );
      return document('ListMultipartUploadsResult', entries.join(''));
    },
  };

  return {
    /** The value of STORAGE_URL. */
    url: `s3://${bucket}/kept/here?endpoint=${endpoint}`,
    bucket,
    endpoint,
    credentials,
    objects,
    uploads,
    asked,
    load,
    /** Answers the next `times` requests of that kind with this error. */
    fail(operation: string, status: number, code: string, times = 1): void {
      for (let i = 0; i < times; i++) failures.push({ operation, status, code });
    },
    /** Ends every connection and accepts none until `start`, like a store that was lost. The objects stay. */
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async start(): Promise<void> {
      await new Promise<void>((resolve) => server.listen(Number(new URL(endpoint).port), '127.0.0.1', resolve));
    },
    /** Cancels the failures that a test has planned and that have not occurred yet. */
    heal(): void {
      failures.length = 0;
    },
    async close(): Promise<void> {
      forgetEnvironment();
      Object.assign(process.env, Object.fromEntries(environment));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
const document = (root: string, inside: string): Answer => ({
  headers: { 'content-type': 'application/xml' },
  body: `${xml}<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</${root}>`,
});

function operationOf({ req, key, query }: Asked): string {
  const name = {
    PUT: query.has('partNumber') ? 'UploadPart' : 'PutObject',
    GET: key ? 'GetObject' : query.has('uploads') ? 'ListMultipartUploads' : 'ListObjectsV2',
    DELETE: query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject',
    POST: query.has('uploads') ? 'CreateMultipartUpload' : 'CompleteMultipartUpload',
  }[req.method!];
  if (!name) throw new Fault(405, 'MethodNotAllowed');
  return name;
}

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Throws unless the signature is valid for the body and the headers as they arrived, and was made less than 15 minutes ago. */
function authenticate(req: IncomingMessage, body: Buffer, { accessKeyId, secretAccessKey }: Credentials): void {
  const { authorization = '', 'x-amz-date': time, 'x-amz-content-sha256': digest } = req.headers;
  const scheme =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const [, id, day, region, names, signature] = scheme.exec(authorization) ?? [];
  if (!id || typeof time !== 'string' || typeof digest !== 'string')
    throw new Fault(403, 'AccessDenied', 'Access Denied');
  if (id !== accessKeyId) throw new Fault(403, 'InvalidAccessKeyId');
  const sent = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - sent) < 900_000) || !time.startsWith(day!)) throw new Fault(403, 'RequestTimeTooSkewed');
  const signed = names!.split(';');
  const mustBe = Object.keys(req.headers).filter((name) => /^(host|content-md5|x-amz-.*)$/.test(name));
  if (mustBe.some((name) => !signed.includes(name)))
    throw new Fault(403, 'AccessDenied', 'There were headers present in the request which were not signed');
  if (hex('sha256', body) !== digest) throw new Fault(400, 'XAmzContentSHA256Mismatch');

  const [path, search = ''] = req.url!.split('?') as [string, string?];
  const query = search
    .split('&')
    .filter(Boolean)
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort();
  const headers = signed.map(
    (name) =>
      `${name}:${String(req.headers[name] ?? '')
        .trim()
        .replace(/ +/g, ' ')}\n`,
  );
  const canonical = [req.method, path, query.join('&'), headers.join(''), names, digest].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, hex('sha256', canonical)].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${secretAccessKey}`, day!), region!));
  if (hmac(key, text).toString('hex') !== signature) throw new Fault(403, 'SignatureDoesNotMatch');
}
