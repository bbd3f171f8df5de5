// The commands that show, verify and trace attestations of commits.
import type { Command } from 'commander';
import { run } from './arguments.ts';
import * as attestations from './commands/attestations.ts';
import { trace } from './commands/trace.ts';

export function addAttestations(program: Command): void {
  program
    .command('verify')
    .description('verify how a commit of a mission was created, from the notes of the repository')
    .argument('[commit]', 'a commit of the repository in this folder', 'HEAD')
    .option('--keys <file>', 'the service’s /.well-known/audit-keys.json; without it, it is read from the service')
    .option('--envelope <file>', 'file with the attestation, instead of the one in the notes')
    .option('--calls <file>', 'the calls of the run, as "attestations calls" prints them')
    .action(run(attestations.verify));
  program
    .command('trace')
    .description('print which lines of attested commits came from missions, as Agent Trace records')
    .argument('[commits]', 'a commit of the repository in this folder, or a range such as main..HEAD', 'HEAD')
    .option('--keys <file>', 'the service’s /.well-known/audit-keys.json; without it, it is read from the service')
    .action(run(trace));
  const command = program.command('attestations').description('signed statements about commits of missions');
  command
    .command('show')
    .description('print the attestation of a commit')
    .argument('<commit>', 'the commit')
    .action(run(attestations.show));
  command
    .command('calls')
    .description('print the calls that the attestations of a run cover')
    .argument('<run>', 'id of the run')
    .action(run(attestations.calls));
}
