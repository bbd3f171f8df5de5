// The networks from which the organization accepts credentials: show, set, clear.
import type { AllowedNetworks } from '../../../typescript/src/exports.ts';
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

function print({ json }: CommonOptions, answer: AllowedNetworks): void {
  const { networks, address } = answer;
  const lines = networks.length > 0 ? networks : ['Requests may come from everywhere.'];
  if (json) printJson(answer);
  else for (const line of [...lines, `Your address is ${address ?? 'unknown'}.`]) printLine(line);
}

export async function show(options: CommonOptions): Promise<void> {
  print(options, await (await openClient(options.url)).allowedNetworks());
}

export async function set(options: CommonOptions, networks: string[]): Promise<void> {
  print(options, await (await openClient(options.url)).setAllowedNetworks({ input: { networks } }));
}

export async function clear(options: CommonOptions): Promise<void> {
  await set(options, []);
}
