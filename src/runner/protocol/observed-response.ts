// A response whose bytes and headers can be observed, whichever module writes them.
import { ServerResponse } from 'node:http';

/** Headers that are recorded. The other headers may contain credentials, or are not needed. */
const headerNames =
  /^(accept|content-type|anthropic-(version|beta)|openai-beta|mcp-(protocol-version|session-id)|retry-after|request-id)$/;

export const chosenHeaders = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      headerNames.test(name) && value !== undefined ? [[name, String(value)]] : [],
    ),
  );

export class ObservedResponse extends ServerResponse {
  observe: ((bytes: Buffer) => void) | null = null;
  sentHeaders: Record<string, string> = {};
  /** True if the call gets no response in a replay, because a fork of the mission continues from this call. */
  isWithheld = false;

  override writeHead(...args: unknown[]): this {
    const headers = args.findLast((one) => typeof one === 'object' && one !== null) ?? {};
    this.sentHeaders = chosenHeaders(headers as Record<string, unknown>);
    return Reflect.apply(super.writeHead, this, args);
  }
  override write(...args: unknown[]): boolean {
    this.#tell(args[0]);
    return Reflect.apply(super.write, this, args);
  }
  override end(...args: unknown[]): this {
    this.#tell(args[0]);
    return Reflect.apply(super.end, this, args);
  }
  #tell(chunk: unknown): void {
    if (this.observe && (typeof chunk === 'string' || chunk instanceof Uint8Array)) this.observe(Buffer.from(chunk));
  }
}
