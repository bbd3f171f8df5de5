// The list of agents, which other commands name.
import { printJson, printTable } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';

export async function agents(options: CommonOptions & { role?: string; limit: number }): Promise<void> {
  const role = options.role as 'builder' | undefined;
  const found = await (await openClient(options.url)).agents(role ? { role } : {}).take(options.limit);
  if (options.json) return printJson(found);
  printTable(found, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    role: ({ role }) => role,
    harness: ({ harness }) => harness,
    model: ({ model }) => model,
    'built in': ({ isBuiltin }) => (isBuiltin ? 'yes' : 'no'),
  });
}
