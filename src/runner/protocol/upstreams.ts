// Destinations of the gateway's requests: the vendors of models and the platform's MCP servers, with their credentials.
import type { Agent } from 'node:http';
import type { Vendor } from '../contract.ts';
import type { Mask } from '../text.ts';
import type { Questions } from './questions.ts';
import type { ToolServer } from './tool-server.ts';

/** Destination of requests, with credentials. */
export interface Upstream {
  /** The URL without a trailing slash. */
  base: string;
  headers: Record<string, string>;
  /** The HTTP agent for URLs chosen by users. */
  agent?: Agent;
  /** Aborts pending requests. */
  signal?: AbortSignal;
  /** Reason why no request may be sent to the server; null when requests are allowed. */
  refusal?: string | null;
  /** Called with the status of each response. */
  answered?(status: number): void;
}

/** Destination of requests to an MCP server: a tool server of the runner, or an upstream. */
export type McpServer =
  /** A tool server inside the runner, such as the one for questions to people. */
  { own: ToolServer } | (Upstream & { own?: undefined; approval?: Approval });

export interface Approval {
  questions: Questions;
  /** Name of the server. */
  server: string;
  /** Whether each call of the tool needs a person's approval, by the current settings of the project. */
  isNeeded(tool: string): Promise<boolean>;
  mask: Mask;
}

export interface Upstreams {
  anthropic: Upstream | null;
  openai: Upstream | null;
  /** MCP servers by name. */
  mcp: Record<string, McpServer>;
}

/** The request header that carries a vendor's key. */
export const keyHeader = (vendor: Vendor, key: string): Record<string, string> =>
  vendor === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };

/** The keys of the vendors, from the headers that `keyHeader` has created. */
export const keysOf = (models: Pick<Upstreams, Vendor>): string[] =>
  Object.values(models).flatMap((one) =>
    Object.values(one?.headers ?? {}).map((value) => value.replace(/^Bearer /, '')),
  );

/** The credentials of models from the environment. Null for a vendor with neither a key nor a custom URL. */
export function modelsFrom(env: NodeJS.ProcessEnv): Pick<Upstreams, 'anthropic' | 'openai'> {
  const of = (vendor: Vendor, address: string): Upstream | null => {
    const name = vendor.toUpperCase();
    const [key, base] = [env[`${name}_API_KEY`], env[`${name}_BASE_URL`]];
    if (!key && !base) return null;
    return { base: (base || address).replace(/\/+$/, ''), headers: key ? keyHeader(vendor, key) : {} };
  };
  return { anthropic: of('anthropic', 'https://api.anthropic.com'), openai: of('openai', 'https://api.openai.com/v1') };
}
