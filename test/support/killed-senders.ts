// Two processes that send webhooks or audit logs at the same time. A test kills both with SIGKILL, and two new processes continue the work.
import { type ChildProcess, spawn } from 'node:child_process';
import { programArguments } from './processes.ts';
import { present, type World } from './world.ts';

/** Settings that a test passes to the two processes. Each process executes support/sending-process.js, which reads the settings. */
interface Work {
  /** Pattern of names of periodic jobs. */
  wanted: string;
  queues: string[];
  /** Seconds by which the clock of the processes advances during one real second; 60 by default. */
  speed?: number;
  /** Certificate that the processes trust. */
  ca?: string;
}

export function startSenders({ connection, url }: World, { speed = 60, ...work }: Work) {
  const orders = { connection, url, clock: { at: Date.now(), shows: present(), speed }, ...work };
  const processes = new Set<ChildProcess>();
  let complaints = '';
  const begin = (): void => {
    const args = [...programArguments('test/sending-process'), JSON.stringify(orders)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr!.on('data', (text) => {
      complaints += text;
    });
    processes.add(child);
  };
  const stop = (): void => {
    for (const child of processes) child.kill('SIGKILL');
    processes.clear();
  };
  for (const _ of [1, 2]) begin();
  return {
    /** Kills both processes, so that neither records what has just arrived, and starts two new processes. */
    replace(): void {
      stop();
      for (const _ of [1, 2]) begin();
    },
    stop,
    /** Errors that the processes have printed. */
    complaints: (): string => complaints,
  };
}
