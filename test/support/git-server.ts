// Serves git over HTTP next to the API of a stand-in, with git's own `http-backend` (gitprotocol-http). The repositories are bare
// repositories in a folder.
import { execFileSync, spawn } from 'node:child_process';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import path from 'node:path';

interface Settings {
  folder: string;
  /** Whether a password of HTTP basic authentication is accepted. */
  accepts(password: string): boolean;
  /** Called after each push. */
  onPush(repository: string): void;
}

const pathForm = /^\/([\w.-]+\/[\w.-]+)\.git(\/(?:info\/refs|git-upload-pack|git-receive-pack))(?:\?(.*))?$/;

/** Handles the requests of git, and leaves all other requests to the server's own listener. */
export function serveGit(server: Server, { folder, accepts, onPush }: Settings): void {
  const [own] = server.listeners('request') as [(req: IncomingMessage, res: ServerResponse) => void];
  server.removeAllListeners('request').on('request', (req: IncomingMessage, res: ServerResponse) => {
    const [, repository, service, query = ''] = pathForm.exec(req.url!) ?? [];
    if (!repository || !service) return own(req, res);
    const [, password = ''] = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':');
    if (!accepts(password)) return void res.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    const { 'content-type': type = '', 'content-encoding': coding, 'git-protocol': protocol } = req.headers;
    const backend = spawn('git', ['http-backend'], {
      env: {
        ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'agent' },
        ...{ PATH_INFO: `/${repository}.git${service}`, QUERY_STRING: query, REQUEST_METHOD: req.method },
        ...{ CONTENT_TYPE: type, HTTP_CONTENT_ENCODING: coding, GIT_PROTOCOL: protocol as string | undefined },
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    req.pipe(backend.stdin);
    answerOf(backend.stdout, res, () => {
      if (service.endsWith('receive-pack')) onPush(repository);
    });
  });
}

/** Passes on the response of a CGI program: headers, an empty line, the body. */
function answerOf(output: NodeJS.ReadableStream, res: ServerResponse, done: () => void): void {
  let head = Buffer.alloc(0);
  output.on('data', (bytes: Buffer) => {
    if (res.headersSent) return void res.write(bytes);
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const headers = Object.fromEntries(
      head
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => line.split(/:\s*/, 2)),
    );
    res.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers);
    res.write(head.subarray(end + 4));
  });
  output.on('end', () => {
    done();
    res.end();
  });
}

/** A bare repository with one commit of these files on `main`. */
export function createRepository(folder: string, name: string, files: Record<string, string>): string {
  const bare = path.join(folder, `${name}.git`);
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', env: { PATH: process.env.PATH } });
  git('init', '-q', '--bare', '-b', 'main', bare);
  const marks = Object.entries(files).map(
    ([file, content]) => `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
  );
  const commit = `commit refs/heads/main\ncommitter Ada <ada@example.com> 1 +0000\ndata 5\nfirst\n${marks.join('')}`;
  execFileSync('git', ['-C', bare, 'fast-import', '--quiet'], { input: commit });
  return bare;
}
