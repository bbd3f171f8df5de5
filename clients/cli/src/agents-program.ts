// The commands for agents and their versions.
import type { Command } from 'commander';
import { count, run } from './arguments.ts';
import * as agents from './commands/agents.ts';

export function addAgents(program: Command): void {
  const command = program.command('agents').description('agents and their versions');
  const ofAgent = (name: string, description: string): Command =>
    command.command(name).description(description).argument('<agent>', 'id');
  command
    .command('list', { isDefault: true })
    .description('list agents, the built-in ones last')
    .option('--role <role>', 'only of this role')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(agents.list));
  ofAgent('versions', 'list the versions of an agent, newest first')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(agents.versions));
  ofAgent('restore', 'give an agent the settings of an earlier version')
    .argument('<number>', 'number of the version', count)
    .option('--note <text>', 'why')
    .action(run(agents.restore));
  ofAgent('try', 'let a share of new missions use another version')
    .argument('<number>', 'number of the version', count)
    .requiredOption('--percent <n>', 'share of the missions', count)
    .action(run(agents.tryVersion));
  ofAgent('end-trial', 'end the trial of an agent')
    .option('--promote', 'use the tried version for all missions')
    .action(run(agents.endTrial));
}
