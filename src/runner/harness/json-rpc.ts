// JSON-RPC with a harness, one message a line: calls in both directions, and notifications from the harness.
import { type Json, logLine, parsed } from './fragments.ts';
import type { Listener } from './port.ts';

interface Waiting {
  resolve(result: Json): void;
  reject(error: Error): void;
}

export interface Peer {
  write(message: object): void;
  notified(method: string, params: Json): Promise<void>;
  /** Answers a call of the harness. @throws the error of the answer */
  asked(method: string, params: Json): Promise<Json>;
}

export function jsonRpc({ write, notified, asked }: Peer, on: Listener) {
  const waiting = new Map<number, Waiting>();
  let calls = 0;

  async function answer(message: Json): Promise<void> {
    const { id, method, params } = message;
    try {
      write({ id, result: await asked(method, params ?? {}) });
    } catch (error) {
      write({ id, error: { code: -32601, message: (error as Error).message } });
      await on({ log: logLine(message) });
    }
  }

  return {
    call: (method: string, params: object) =>
      new Promise<Json>((resolve, reject) => {
        const id = ++calls;
        waiting.set(id, { resolve, reject });
        write({ id, method, params });
      }),
    /** Messages are processed one after the other. */
    async receive(line: string): Promise<void> {
      const message = parsed(line);
      if (!message) return on({ log: logLine(line) });
      const { id, method, params, result, error } = message;
      if (id === undefined) return notified(method, params ?? {});
      if (method) return answer(message);
      const open = waiting.get(id);
      waiting.delete(id);
      if (error) open?.reject(new Error(reasonOf(error)));
      else open?.resolve(result ?? {});
    },
    rejectAll(error: string): void {
      for (const { reject } of waiting.values()) reject(new Error(error));
    },
  };
}

/** Some harnesses put the reason for an error into its data. */
function reasonOf({ message, data }: Json): string {
  const detail = data?.details ?? data?.message;
  return typeof detail === 'string' ? `${message}: ${detail}` : message;
}
