// Contents of artifacts, to and from whoever holds a signed address (artifacts/address.ts).
import type { Exchange } from '#foundation/http.ts';
import { methodNotAllowed, toProblem } from '#foundation/problem.ts';
import { download } from './download.ts';
import { refuse } from './refusal.ts';
import { upload } from './upload.ts';

export interface ArtifactsSettings {
  /** Told of every problem of ours (5xx) with its cause. */
  report(exchange: Exchange, error: unknown): void;
}

interface Route {
  /** Gives the id in the path. */
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
];

export function createArtifacts({ report }: ArtifactsSettings) {
  const routeOf = (path: string) => routes.find(({ pattern }) => pattern.test(path));

  async function handle(exchange: Exchange): Promise<void> {
    const { req, res } = exchange;
    const { pattern, template, methods, act } = routeOf(exchange.path)!;
    exchange.route = template;
    try {
      if (!methods.includes(req.method!)) throw methodNotAllowed(methods.join(', '));
      await act(exchange, pattern.exec(exchange.path)![1]!);
    } catch (error) {
      // A client that leaves half way is no fault.
      if (hasLeft(exchange) || (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
      const problem = toProblem(error);
      if (problem.status >= 500) report(exchange, error);
      if (res.headersSent) res.destroy();
      else refuse(exchange, problem);
    }
  }
  return { name: 'artifacts', owns: (path: string) => routeOf(path) !== undefined, handle };
}

/** While he was sending. */
const hasLeft = ({ req }: Exchange): boolean => req.destroyed && !req.complete;
