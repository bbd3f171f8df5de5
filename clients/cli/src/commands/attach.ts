// A shell in the sandbox of a running mission, in this terminal.
import type { Client } from '../../../typescript/src/exports.ts';
import { paint, plain, printError } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { type RemoteShell, readFrom, type Size, writeTo } from '../terminal.ts';

/** Ctrl-] leaves the shell, as in telnet: programs rarely read it. */
const leaveKey = '\x1d';
/** Time for the runtime to start the shell; scripts send heartbeats every ten seconds. */
const openingMs = 30_000;

const sizeOf = ({ columns = 80, rows = 24 }: Pick<NodeJS.WriteStream, 'columns' | 'rows'>): Size => ({
  width: columns,
  height: rows,
});

export async function attach(options: CommonOptions, runId: string): Promise<void> {
  const client = await openClient(options.url);
  const { id } = await client.openTerminal({ runId, ...sizeOf(process.stdout) });
  await use(client, id);
}

async function use(client: Client, terminalId: string): Promise<void> {
  const { stdin, stdout } = process;
  const over = new AbortController();
  const shell = writeTo(client, terminalId, over.signal);
  const leave = () => void client.closeTerminal({ terminalId }).catch(() => over.abort());
  let restore = () => {};
  const late = setTimeout(() => over.abort(), openingMs);
  const resized = () => shell.resize(sizeOf(stdout));
  try {
    const ended = await readFrom(client, terminalId, over.signal, {
      opened({ hasDevice }) {
        clearTimeout(late);
        restore = takeInput(shell, hasDevice === true, leave);
        stdout.on('resize', resized);
      },
      output(text, isCut) {
        if (isCut)
          printError(
            paint('dim', '\n[Some output is missing: the shell printed faster than it could be sent.]', process.stderr),
          );
        stdout.write(text);
      },
    });
    if (!ended) throw new UserError('The runtime did not start the shell in time.');
    printError(paint('dim', `\n${plain(ended.reason ?? '')}`, process.stderr));
  } finally {
    clearTimeout(late);
    over.abort();
    stdout.off('resize', resized);
    restore();
    stdin.pause();
  }
}

/** Sends standard input to the shell, whole lines if the shell has no terminal device. @returns a function that stops it */
function takeInput(shell: RemoteShell, hasDevice: boolean, leave: () => void): () => void {
  const { stdin } = process;
  const isRaw = stdin.isTTY === true && hasDevice;
  if (stdin.isTTY) {
    const how = hasDevice
      ? 'Ctrl-] leaves the shell; the agent continues.'
      : 'The runtime has no terminal device: lines are sent with Enter, and Ctrl-C leaves the shell.';
    printError(paint('dim', how, process.stderr));
  }
  if (isRaw) stdin.setRawMode(true);
  const take = (bytes: Buffer) => {
    const text = bytes.toString();
    if (isRaw && text.includes(leaveKey)) leave();
    else shell.write(text);
  };
  stdin.on('data', take);
  process.once('SIGINT', leave);
  return () => {
    stdin.off('data', take);
    process.off('SIGINT', leave);
    if (isRaw) stdin.setRawMode(false);
  };
}
