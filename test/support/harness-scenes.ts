// Scenes played with each harness: recorded with the real programs, and replayed in the ordinary suite.
import type { Task, Turn } from '../../src/runner/harness/port.ts';
import { scripted } from './harness-turns.ts';

export interface Played {
  harness: { ready: Promise<void>; send(text: string): Promise<unknown>; interrupt(): Promise<void> };
  turn(nth: number): Promise<Turn>;
  seen(text: string): Promise<unknown>;
}
export interface Scene {
  task: Pick<Task, 'prompt'> & Partial<Task>;
  play(played: Played): Promise<unknown>;
}

const verdict = { type: 'string' };

export const scenes: Record<'worked' | 'refused' | 'structured' | 'steered' | 'resumed', Scene> = {
  worked: {
    task: {
      prompt: scripted(
        { think: 'I look first.', shell: 'echo from-the-shell' },
        { plan: [{ content: 'Edit', status: 'in_progress' }] },
        { write: { file: 'b.txt', content: 'made\n' } },
        { say: 'All done.' },
      ),
    },
    play: ({ turn }) => turn(0),
  },
  refused: {
    task: { prompt: scripted({ fail: { status: 400, type: 'invalid_request_error', message: 'no such thing' } }) },
    play: ({ turn }) => turn(0),
  },
  structured: {
    task: {
      prompt: scripted({ json: { verdict: 'approve' } }),
      schema: { type: 'object', properties: { verdict }, required: ['verdict'], additionalProperties: false },
    },
    play: ({ turn }) => turn(0),
  },
  /** A scene with a message while the harness works, an interruption, and another message. */
  steered: {
    task: { prompt: scripted({ shell: 'sleep 1.5' }, { say: 'first' }) },
    async play({ harness, turn, seen }) {
      await harness.ready;
      await seen('sleep 1.5');
      await harness.send(scripted({ shell: 'echo steered' }, { say: 'steered' }));
      await turn(0);
      await harness.send(scripted({ shell: 'timeout 33 tail -f /dev/null' }, { say: 'never' }));
      await seen('timeout 33');
      await harness.interrupt();
      await turn(1);
      await harness.send(scripted({ say: 'went on' }));
      await turn(2);
    },
  },
  resumed: {
    task: { prompt: scripted({ say: 'resumed' }) },
    play: ({ turn }) => turn(0),
  },
};
