// Structured logs: one JSON line per event, written in the background, or short readable lines for a terminal. Every finished line passes
// `withoutSecrets`, except the line of a request, whose parts are all known.
import pino, { type DestinationStream, type LevelWithSilent, type Logger } from 'pino';
import { type PrettyOptions, prettyFactory } from 'pino-pretty';
import { isoTime, now } from './clock.ts';
import type { Exchange } from './http/http.ts';
import { prefixes } from './ids.ts';

export interface Log extends Logger {
  /** Writes the log line of a request that has ended. The line omits the path of the request, because paths contain ids and sometimes secrets. */
  request(surface: string, exchange: Exchange, milliseconds: number): void;
  /**
   * Prints a text for the operator's terminal, after all earlier log lines and before all later ones. The text may contain secrets and is
   * not filtered.
   */
  print(text: string): void;
  /** An internal error while responding; the caller sees only the request id. */
  failure(exchange: Exchange, error: unknown): void;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['pretty', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogSettings {
  level: LevelWithSilent;
  /** Format of the lines; absent means `pretty` if standard output is a terminal, else `json`. */
  format?: LogFormat | undefined;
  /** Destination of the lines; standard output when absent. */
  destination?: DestinationStream;
}

/** Maximum bytes and milliseconds of buffered lines, which a `kill -9` loses. */
const gather = { bytes: 8 * 1024, milliseconds: 200 };

/** Opens the log. The buffer is written before the process ends. */
export function openLog({ level, format, destination }: LogSettings): Log {
  const settings = {
    level,
    base: null,
    timestamp: () => `,"time":"${isoTime(now())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    hooks: { streamWrite: withoutSecrets },
  };
  const isPretty = format ? format === 'pretty' : !destination && process.stdout.isTTY;
  const stream = isPretty ? prettified(destination ?? process.stdout) : (destination ?? openDestination());
  const log: Logger = pino(settings, stream);
  return Object.assign(log, {
    request(surface: string, exchange: Exchange, milliseconds: number) {
      const status = statusOf(exchange);
      const { requestId, traceId, route, address, credentialId, req } = exchange;
      // Requests of runtimes, which come every second, are logged as debug lines.
      const defaultLevel = status < 400 && credentialId?.startsWith(`${prefixes.service}_`) ? 'debug' : 'info';
      const level = status < 500 ? defaultLevel : 'error';
      if (!log.isLevelEnabled(level)) return;
      // The line is not filtered: only its request id and address come from outside, and the rest cannot contain a secret.
      const line = {
        level,
        time: isoTime(now()),
        requestId: redact(requestId),
        traceId,
        surface,
        method: req.method,
        route,
        status,
        ms: Math.round(milliseconds * 100) / 100,
        address: redact(address),
        credentialId,
        msg: 'request',
      };
      stream.write(`${JSON.stringify(line)}\n`);
    },
    print: (text: string) => void stream.write(`${text}\n`),
    failure({ requestId, traceId, route, credentialId, req }: Exchange, err: unknown) {
      log.error({ requestId, traceId, method: req.method, route, credentialId, err }, 'request failed');
    },
  });
}

const openDestination = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: gather.bytes, periodicFlush: gather.milliseconds });

const prettyOptions: PrettyOptions = {
  translateTime: 'SYS:HH:MM:ss',
  singleLine: true,
  colorize: process.stdout.isTTY,
  ignore: 'surface,method,route,status,ms,address,credentialId,requestId,traceId',
  messageFormat: (line, key) =>
    line.surface ? `${line.method} ${line.route ?? '(no such path)'} ${line.status} ${line.ms} ms` : String(line[key]),
};

/** A stream of readable lines, written synchronously, in order with other output. */
function prettified(to: { write(line: string): unknown }): DestinationStream {
  const prettify = prettyFactory(prettyOptions);
  return { write: (line) => void to.write(prettify(line)) };
}

/** The status code that was sent; 499 when the client disconnected before the response. */
export const statusOf = ({ res }: Exchange): number => (res.headersSent ? res.statusCode : 499);

/** Name, message, code and stack of an error. Other properties are omitted: in errors of drivers they contain statements and settings. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, code: typeof code === 'string' ? code : undefined, stack, cause: describeError(cause) };
}

/** Names of members, headers and parameters whose values are secret. */
const names =
  '(?:proxy-)?authorization|(?:set-)?cookie|(?:access|refresh|claim|id)?_?token|(?:client_|identity_)?assertion|' +
  'password|(?:client_?)?secret|secret_?key|credentials|user_?code|code_?verifier';
const string = '"(?:[^"\\\\]|\\\\.)*"';
const secretMember = new RegExp(`"(${names})":(?:${string}|\\[(?:${string},?)*\\])`, 'gi');

const withoutSecrets = (line: string): string => redact(line.replace(secretMember, '"$1":"[redacted]"'));

const secretText = new RegExp(
  [
    // Secrets of this service (secrets.ts). This pattern finds a secret by its prefix. The third pattern of this list finds a secret by its
    // form, which is 256 bits in base64url.
    '\\b(pat|agt|oat|ort|clm|cvt|srv)_[\\w-]{8,}',
    // The key and the signing secret of Stripe.
    '\\b(whsec|[sr]k_(?:test|live))_[\\w+/=-]{8,}',
    '\\b(?:([a-z]+)_)?(?=[\\w-]*[A-Z])[\\w-]{39,43}(?![\\w-])',
    // A JWT, signed or not.
    '\\beyJ[\\w-]{8,}(?:\\.[\\w-]+){1,4}',
    // User and password in a URL, as in DATABASE_URL.
    '(://)[^\\s/"\'@\\\\]+@',
    // The value of a member `code` may be a secret. It is not a secret if it has the form of an error code: a SQLSTATE (`23505`), a system
    // error (`ECONNRESET`), or words in lower case (`not_found`).
    '("code":")(?!(?:[0-9A-Z]{5}|E[A-Z0-9_]+|[a-z]+(?:_[a-z]+)*)")[^"]+',
  ].join('|'),
  'g',
);
/** Secrets in a query, a form, a header or a quoted body. */
const secretParameter = new RegExp(
  `\\b(code|${names})(=|\\\\*" ?: ?\\\\*")(?!\\[redacted)[^\\s&"'\\\\]+|\\b(bearer|basic) [\\w.~+/=-]{8,}`,
  'gi',
);

/** Request ids of this service, and IP addresses: they resemble no secret, and to search them takes 2 µs of each request. */
const plainText = /^(?:req_[\da-f]{32}|[\da-f.:]{2,45})$/;

/** Removes everything that resembles a secret from a text of any origin, such as a message or a stack. */
export function redact(text: string): string {
  if (plainText.test(text)) return text;
  return text
    .replace(secretText, (_, prefix?: string, stripe = prefix, kin = stripe, slashes?: string, code?: string) => {
      if (slashes) return '://[redacted]@';
      return `${code ?? (kin ? `${kin}_` : '')}[redacted]`;
    })
    .replace(secretParameter, (whole, name?: string, sign?: string, scheme?: string) => {
      if (scheme) return `${scheme} [redacted]`;
      // The first replacement has already redacted secret members named `code`; the remaining ones are error codes.
      return name === 'code' && sign === '":"' ? whole : `${name}${sign}[redacted]`;
    });
}
