// Requests of runtimes about terminals, in GraphQL only.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { int, members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { terminalBounds } from '../../work/terminals/bounds.ts';
import { Appended, ReportAcknowledgement } from './schema-answers.ts';
import { id, ofRun } from './schema-runs.ts';
import * as terminals from './terminals.ts';

const ofTerminal = { ...ofRun, terminalId: id.describe('The id from the answer to a heartbeat.') };
const position = z.int().min(0).max(terminalBounds.pieces);
const length = ({ min, max }: { min: number; max: number }) => z.int().min(min).max(max);

const ReadTerminalRequest = request(
  'ReadTerminalRequest',
  z
    .object({
      ...ofTerminal,
      from: position.describe('Number of the next piece of input, from 0; the earlier pieces are deleted.'),
      width: length(terminalBounds.width).describe('Characters of a line that the shell has now.'),
      height: length(terminalBounds.height).describe('Lines that the shell has now.'),
      hasDevice: z.boolean().describe('Whether the shell has a terminal device.'),
    })
    .describe('A shell that runs and waits for input.'),
);
const AppendTerminalOutputRequest = request(
  'AppendTerminalOutputRequest',
  z
    .object({
      ...ofTerminal,
      seq: position.describe('Number of the piece, from 0 without a gap; a repeated piece changes nothing.'),
      content: boundedText(terminalBounds.output).describe('Output of the shell.'),
    })
    .describe('A piece of the output of a shell.'),
);
const ReportTerminalEndRequest = request(
  'ReportTerminalEndRequest',
  z
    .object({ ...ofTerminal, reason: boundedText(terminalBounds.reason).describe('Why it has ended, for the person.') })
    .describe('The end of a shell.'),
);

const TerminalPiece = builder.objectRef<{ seq: number; text: string }>('TerminalPiece').implement({
  description: 'A piece of input of a terminal.',
  fields: (t) =>
    members(t, {
      seq: int('Number of the piece, from 0.'),
      text: string('The input.', { complexity: weightOf(terminalBounds.input.max) }),
    }),
});
const TerminalInputType = builder.objectRef<terminals.TerminalInput>('TerminalInput').implement({
  description: 'Input for the shell of a terminal.',
  fields: (t) =>
    members(t, {
      input: typed([TerminalPiece], 'The pieces from the requested number on, in order.', {
        complexity: { field: 1, multiplier: 10 },
      }),
      width: int('Number of characters of a line that the terminal must have.'),
      height: int('Number of lines that the terminal must have.'),
      endReason: stringOrNull('Why the shell must end, for `reportTerminalEnd`; null while it continues.'),
    }),
});
const scope = 'runtime:report';

builder.mutationFields((t) => ({
  readTerminal: t.field({
    description:
      'Reports that the shell of a terminal runs, and waits up to ten seconds for input, another size, or the end of the terminal.',
    scope,
    type: TerminalInputType,
    args: { input: t.arg({ type: ReadTerminalRequest, required: true, description: 'The shell.' }) },
    resolve: (_, { input }, { caller }) => terminals.readTerminal(caller, input),
  }),
  appendTerminalOutput: t.field({
    description: 'Appends output of the shell of a terminal. The latest pieces are kept for the person who opened it.',
    scope,
    type: Appended,
    args: { input: t.arg({ type: AppendTerminalOutputRequest, required: true, description: 'The output.' }) },
    resolve: (_, { input }, { caller }) => terminals.appendTerminalOutput(caller, input),
  }),
  reportTerminalEnd: t.field({
    description:
      'Reports that the shell of a terminal has ended, or was not started. A repeated report does not change the reason.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: ReportTerminalEndRequest, required: true, description: 'The end.' }) },
    resolve: (_, { input }, { caller }) => terminals.reportTerminalEnd(caller, input),
  }),
}));
