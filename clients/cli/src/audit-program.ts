// The commands of the audit log.
import type { Command } from 'commander';
import { count, date, oneOf, run } from './arguments.ts';
import * as audit from './commands/audit.ts';
import { erase } from './commands/audit-erase.ts';
import * as verification from './commands/audit-verify.ts';

export function addAudit(program: Command): void {
  const command = program.command('audit').description('who changed what, when and from where (scope audit:read)');
  const filtered = (name: string, description: string, isDefault = false) =>
    command
      .command(name, { isDefault })
      .description(description)
      .option('--actor <id>', 'changes by this actor, or on behalf of this person')
      .option('--action <action>', 'an action such as member.removed')
      .option('--type <noun>', 'all actions on a type of record, such as member')
      .option('--target <id>', 'changes of this record; for a run, also of the records that belong to it')
      .option('--project <id>', 'changes of this project and its records')
      .option('--from <date>', 'changes at this time or later', date)
      .option('--before <date>', 'changes before this time', date);
  filtered('list', 'list changes, newest first', true)
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(audit.list));
  filtered('export', 'print all changes, oldest first, for a file')
    .option(
      '--format <format>',
      'jsonl, csv, or entries: a copy of the whole log that verify checks',
      oneOf(['jsonl', 'csv', 'entries']),
      'jsonl',
    )
    .action(run(audit.exportAll));
  command
    .command('erase')
    .description('permanently erase a former member or an invited person (owners only, scope members:write)')
    .argument('<person>', 'the id of the person, or the email address of an invite')
    .option('--yes', 'erase; without it, the command only prints what would be lost')
    .action(run(erase));
  command
    .command('checkpoints')
    .description('print the signed checkpoints, newest first, to keep them elsewhere')
    .option('--limit <n>', 'maximum number of checkpoints', count, 24)
    .action(run(verification.checkpoints));
  command
    .command('verify')
    .description('verify a file of export --format entries, without the service')
    .argument('<file>', 'the file')
    .option('--keys <file>', 'the service’s /.well-known/audit-keys.json; without it, the keys in the file are used')
    .option('--checkpoints <file>', 'checkpoints that were kept elsewhere')
    .action(run(verification.verify));
}
