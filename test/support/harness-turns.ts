// Turns of a harness: the input of a driver and its events, collected for a test.
import { drivers } from '../../src/runner/harness/drivers.ts';
import type { AgentHarness, Harness, HarnessEvent, Task, Turn } from '../../src/runner/harness/port.ts';

export const models: Record<AgentHarness, string> = {
  'claude-code': 'claude-sonnet-4-5',
  codex: 'gpt-5.5',
  opencode: 'claude-sonnet-4-5',
  acp: 'claude-sonnet-4-5',
};

export const scripted = (...steps: object[]): string =>
  `Do what stands here. <script>${JSON.stringify(steps)}</script>`;

export type Given = Pick<Task, 'cwd' | 'home' | 'prompt' | 'gateway' | 'program'> & Partial<Task>;
function taskOf(name: AgentHarness, given: Given): Task {
  return {
    model: models[name],
    env: { PATH: process.env.PATH!, LANG: 'C.UTF-8' },
    account: undefined,
    graceMs: 3_000,
    wrap: (program, args) => [program, args],
    isIsolated: false,
    instructions: null,
    effort: null,
    schema: null,
    resume: null,
    readOnly: false,
    maxCalls: null,
    maxTokens: null,
    mcp: {},
    server: { port: 0, socket: null },
    ...given,
  };
}

/** A harness with all of its events, and its turns in order. */
export function begin(name: AgentHarness, given: Given) {
  const events: HarnessEvent[] = [];
  const turns: Turn[] = [];
  const listeners: (() => void)[] = [];
  const harness: Harness = drivers[name](taskOf(name, given), (event) => {
    events.push(event);
    if ('turn' in event) turns.push(event.turn);
    for (const listener of listeners.splice(0)) listener();
  });
  harness.ready.catch(() => {});
  /** Resolves with the first defined result of `ask`. */
  async function until<T>(ask: () => T | undefined): Promise<T> {
    for (;;) {
      const answer = ask();
      if (answer !== undefined) return answer;
      await new Promise<void>((resolve) => listeners.push(resolve));
    }
  }
  const all = <K extends string>(key: K) =>
    events.flatMap((event) => (key in event ? [(event as Record<K, unknown>)[key]] : [])) as never[];
  return {
    harness,
    events,
    turn: (nth: number) => until(() => turns[nth]),
    /** Resolves with the first event that contains this text. */
    seen: (text: string) => until(() => events.find((event) => JSON.stringify(event).includes(text))),
    fragments: () => all('fragment') as Extract<HarnessEvent, { fragment: unknown }>['fragment'][],
    usages: () => all('usage') as Extract<HarnessEvent, { usage: unknown }>['usage'][],
    session: () => (all('session') as string[])[0]!,
    logs: () => (all('log') as string[]).join(''),
  };
}
