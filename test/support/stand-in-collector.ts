// A collector of OpenTelemetry: receives spans by OTLP/HTTP with JSON (opentelemetry-proto, ExportTraceServiceRequest), checks every message,
// and shows the spans of a trace as a tree.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const traceId = z.string().regex(/^(?!0+$)[0-9a-f]{32}$/);
const spanId = z.string().regex(/^(?!0+$)[0-9a-f]{16}$/);
const nanoseconds = z.string().regex(/^\d{19}$/);
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d+$/)]) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const dropped = z.int().min(0);

const Span = z.strictObject({
  traceId,
  spanId,
  parentSpanId: spanId.optional(),
  traceState: z.string().optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  droppedAttributesCount: dropped,
  events: z.array(z.never()),
  droppedEventsCount: dropped,
  links: z.array(
    z.strictObject({
      traceId,
      spanId,
      traceState: z.string().optional(),
      attributes,
      droppedAttributesCount: dropped,
      flags: z.int(),
    }),
  ),
  droppedLinksCount: dropped,
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
  flags: z.int(),
});
const Message = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes, droppedAttributesCount: dropped }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string().optional() }),
          spans: z.array(Span),
          schemaUrl: z.string().optional(),
        }),
      ),
      schemaUrl: z.string().optional(),
    }),
  ),
});

type Attributes = Record<string, string | number | boolean>;
export interface ReceivedSpan extends Omit<z.infer<typeof Span>, 'attributes'> {
  attributes: Attributes;
}

/** A span with its children, in the order of their start times. */
export interface Node {
  name: string;
  kind: string;
  attributes: Attributes;
  failed?: true;
  links?: string[];
  children?: Node[];
}

const kinds = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

const read = (list: z.infer<typeof attributes>): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0] as string]));

export async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const invalid: string[] = [];
  const resources: Attributes[] = [];
  const server = createServer(async (req, res) => {
    const body = (await req.toArray()).join('');
    const asked = `${req.method} ${req.url} ${req.headers['content-type']}`;
    const { data, error } = Message.safeParse(JSON.parse(body));
    if (asked !== 'POST /v1/traces application/json' || error) invalid.push(`${asked}: ${error?.message}`);
    for (const { resource, scopeSpans } of data?.resourceSpans ?? []) {
      resources.push(read(resource.attributes));
      for (const one of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ ...one, attributes: read(one.attributes) });
    }
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const nodeOf = (span: ReceivedSpan): Node => {
    const { name, kind, attributes, links, status, spanId, traceId } = span;
    const children = spans
      .filter((one) => one.traceId === traceId && one.parentSpanId === spanId)
      .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
    return {
      name,
      kind: kinds[kind]!,
      attributes,
      ...(status.code === 2 && { failed: true as const }),
      ...(links.length > 0 && { links: links.map((link) => `${link.traceId} ${link.spanId}`) }),
      ...(children.length > 0 && { children: children.map(nodeOf) }),
    };
  };

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    /** Received messages that violate the protocol. */
    invalid,
    /** The spans of a trace as trees; a root is a span whose parent is not among them. */
    tree: (traceId: string): Node[] => {
      const all = spans.filter((one) => one.traceId === traceId);
      return all.filter((one) => !all.some(({ spanId }) => spanId === one.parentSpanId)).map(nodeOf);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
