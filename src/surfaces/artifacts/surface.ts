// Receives and sends the contents of artifacts, for holders of a signed URL (artifacts/address.ts).
import type { Exchange } from '#foundation/http/http.ts';
import { allowMethods, framed, type Report } from '../frame.ts';
import { download, downloadExport, downloadRecording } from './download.ts';
import { refuseUpload } from './problems.ts';
import { upload } from './upload.ts';

interface Route {
  /** Pattern of the path, which captures the id of the artifact or content. */
  pattern: RegExp;
  template: string;
  methods: string[];
  act(exchange: Exchange, id: string): Promise<void>;
}

const routes: Route[] = [
  {
    pattern: /^\/artifacts\/uploads\/([\w-]{1,200})$/,
    template: '/artifacts/uploads/{contentKey}',
    methods: ['PUT'],
    act: upload,
  },
  {
    pattern: /^\/artifacts\/([\w-]{1,200})\/content$/,
    template: '/artifacts/{artifactId}/content',
    methods: ['GET', 'HEAD'],
    act: download,
  },
  {
    pattern: /^\/recordings\/([\w-]{1,200})$/,
    template: '/recordings/{runId}',
    methods: ['GET'],
    act: downloadRecording,
  },
  {
    pattern: /^\/exports\/([\w-]{1,200})$/,
    template: '/exports/{orgId}',
    methods: ['GET', 'HEAD'],
    act: downloadExport,
  },
];

export function createArtifacts({ report }: { report: Report }) {
  const routeOf = (path: string) => routes.find(({ pattern }) => pattern.test(path));

  async function handle(exchange: Exchange): Promise<void> {
    const { pattern, template, methods, act } = routeOf(exchange.path)!;
    exchange.route = template;
    allowMethods(exchange, ...methods);
    try {
      await act(exchange, pattern.exec(exchange.path)![1]!);
    } catch (error) {
      if (!isAborted(exchange, error)) throw error;
    }
  }
  const owns = (path: string) => routeOf(path) !== undefined;
  return { name: 'artifacts', owns, handle: framed(handle, { report, refuse: refuseUpload }) };
}

/** Whether the client disconnected while sending or reading, which is not a failure of the service. */
const isAborted = ({ req }: Exchange, error: unknown): boolean =>
  (req.destroyed && !req.complete) || (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
