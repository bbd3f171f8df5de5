// GraphQL types for terminals.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { boolean, booleanOrNull, epochMs, int, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { terminalBounds } from './bounds.ts';
import { followTerminal, type TerminalUpdate } from './follow.ts';
import { terminalStatuses } from './model.ts';
import * as operations from './operations.ts';
import type { TerminalState } from './state.ts';

const TerminalStatus = wordSet('TerminalStatus', terminalStatuses, 'Status of a terminal.', {
  requested: 'The runtime has not started the shell yet.',
  open: 'The shell runs.',
  ended: 'The shell has ended; `reason` says why.',
});

const TerminalType = builder.objectRef<TerminalState>('Terminal').implement({
  description:
    'A shell of a person in the sandbox of a running mission. Its output is recorded as an artifact of the run, with secrets masked.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `trm_`. Only the person who has opened the terminal can use it.'),
      runId: string('The id of the run.'),
      author: string('The name of the person.'),
      status: typed(TerminalStatus.type, 'Status of the terminal.'),
      hasDevice: booleanOrNull(
        'Whether the shell has a terminal device. Without one, it has no line editing and no signals. Null until the shell has started.',
      ),
      width: int('Characters per line.'),
      height: int('Number of lines.'),
      reason: stringOrNull('Why the terminal has ended; null while it has not.'),
      createdAt: epochMs('When the terminal was requested.'),
    }),
});
const TerminalUpdateType = builder.objectRef<TerminalUpdate>('TerminalUpdate').implement({
  description: 'Output of a terminal since the last event.',
  fields: (t) =>
    members(t, {
      terminal: typed(TerminalType, 'The terminal at this moment.'),
      output: string('The output since the last event, with control sequences.', {
        complexity: weightOf(terminalBounds.output.max),
      }),
      nextOutput: int('Number of the next piece of output, to send as `after`.'),
      isCut: boolean('Whether output before this was dropped, because the reader was slower than the shell.'),
    }),
});

const scope = 'missions:run';
const size = ({ min, max }: { min: number; max: number }) => ({ schema: z.int().min(min).max(max) });
const { width, height, window, input, pieces } = terminalBounds;
const widthOf = {
  required: true,
  description: `Characters per line of the window, at most ${window.max}. The terminal uses at least ${width.min} and at most ${width.max}.`,
  validate: size(window),
} as const;
const heightOf = {
  required: true,
  description: `Number of lines of the window, at most ${window.max}. The terminal uses at least ${height.min} and at most ${height.max}.`,
  validate: size(window),
} as const;
const terminalId = { ...pathId, description: 'The id of a terminal that the caller has opened.' } as const;

builder.mutationFields((t) => ({
  openTerminal: t.field({
    description:
      'Opens a shell in the sandbox of a running mission, beside its agent, for the calling person. The runtime starts it within seconds. ' +
      'It ends with the step, when nobody is connected for a minute, or with `closeTerminal`.',
    scope,
    type: TerminalType,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The id of a run with a step in progress.' }),
      width: t.arg.int(widthOf),
      height: t.arg.int(heightOf),
    },
    resolve: (_, args, { caller }) => operations.openTerminal(caller, args),
  }),
  writeTerminal: t.field({
    description:
      'Sends input to the shell of a terminal. To stay connected, send input at least every 30 seconds, even if it is empty.',
    scope,
    type: TerminalType,
    args: {
      terminalId: t.arg.string(terminalId),
      seq: t.arg.int({
        required: true,
        description:
          'Number of the piece, from 0 without a gap; a repeated piece changes nothing. The number is ignored if `text` is empty.',
        validate: size({ min: 0, max: pieces }),
      }),
      text: t.arg.string({
        required: true,
        description: `The input, at most ${input.max} characters.`,
        validate: { schema: boundedText(input) },
      }),
    },
    resolve: (_, args, { caller }) => operations.writeTerminal(caller, args),
  }),
  resizeTerminal: t.field({
    description: 'Sets the size of a terminal.',
    scope,
    type: TerminalType,
    args: { terminalId: t.arg.string(terminalId), width: t.arg.int(widthOf), height: t.arg.int(heightOf) },
    resolve: (_, args, { caller }) => operations.resizeTerminal(caller, args),
  }),
  closeTerminal: t.field({
    description: 'Ends a terminal and its shell. Ending it twice changes nothing.',
    scope,
    type: TerminalType,
    args: { terminalId: t.arg.string(terminalId) },
    resolve: (_, args, { caller }) => operations.closeTerminal(caller, args.terminalId),
  }),
}));

builder.subscriptionField('terminalUpdated', (t) =>
  t.field({
    description:
      'The output of a terminal while it is being written; completes when the terminal has ended and everything was sent.',
    scope,
    type: TerminalUpdateType,
    args: {
      terminalId: t.arg.string(terminalId),
      after: t.arg.int({
        description: 'The `nextOutput` of the last event received; without it, the stream begins with the kept output.',
        validate: size({ min: 0, max: pieces }),
      }),
    },
    subscribe: async (_, { terminalId, after }, { follow, caller }) => {
      const { runId } = await operations.findTerminal(caller, terminalId);
      return followTerminal(follow(terminalId, runId), terminalId, after ?? 0);
    },
    resolve: (update) => update,
  }),
);
