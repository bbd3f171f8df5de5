// The commands with their options; commands/ has their implementations.
import { Command, type CommanderError } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import { addAgents } from './agents-program.ts';
import { amountOrNone, count, list, oneOf, run, whole } from './arguments.ts';
import { addAttestations } from './attestations-program.ts';
import { addAudit } from './audit-program.ts';
import { addChats } from './chats-program.ts';
import * as account from './commands/account.ts';
import * as artifacts from './commands/artifacts.ts';
import { open } from './commands/open.ts';
import * as projects from './commands/projects.ts';
import * as tasks from './commands/tasks.ts';
import { completionScript, shells } from './completion.ts';
import { addHooks, addRules } from './hooks-program.ts';
import { addInbox } from './inbox-program.ts';
import { addIssues } from './issues-program.ts';
import { exitCodes, printLine } from './output.ts';
import { addRuns } from './run-program.ts';
import { addRuntimes } from './runtimes-program.ts';
import { addSettings } from './settings-program.ts';
import { addTemplates } from './templates-program.ts';
import { addWebhooks } from './webhooks-program.ts';

export function createProgram(): Command {
  const program = new Command('aep')
    .description('Run missions of the Agent Engineering Platform from a terminal.')
    .version(packageFile.version, '--version', 'print the version')
    .option('--url <address>', 'URL of the service (AEP_URL)')
    .option('--json', 'print the API response as JSON')
    .showHelpAfterError('Run with --help for usage.')
    .exitOverride(endUsage)
    .addHelpText(
      'after',
      `
Environment:
  AEP_URL    address of the service
  AEP_TOKEN  a personal access token, instead of "aep login"
  NO_COLOR   no colors

Exit codes: 0 done, 1 error, 2 wrong usage, 3 the mission failed, 4 it was canceled or skipped, 130 interrupted.`,
    );
  addAccount(program);
  addProjects(program);
  addTasks(program);
  addRuns(program);
  addInbox(program);
  addIssues(program);
  addTemplates(program);
  addSettings(program);
  addHooks(program);
  addWebhooks(program);
  addChats(program);
  addRules(program);
  addArtifacts(program);
  addAgents(program);
  addRuntimes(program);
  addAttestations(program);
  addAudit(program);
  program
    .command('open')
    .description('open a page of the console, or the file of an organization')
    .argument('[id]', 'id of a run, project, scheduled task, automation, agent, issue or sandbox; or a file')
    .option('--no-browser', 'only print the address')
    .action(run(open));
  program
    .command('completion')
    .description('print the completion script of a shell, to be sourced by it')
    .argument('<shell>', shells.join(', '), oneOf(shells))
    .action((shell: string) => printLine(completionScript(program, shell)));
  return program;
}

function addAccount(program: Command): void {
  program
    .command('login')
    .description('sign in with the browser')
    .option('--scopes <list>', 'scopes to request, separated by commas', list)
    .option('--no-browser', 'only print the address')
    .action(run(account.signIn));
  program.command('logout').description('revoke and delete the sign-in').action(run(account.signOut));
  program.command('whoami').description('show who you are and what you may do').action(run(account.whoAmI));
  const tokens = program.command('tokens').description('personal access tokens, which people manage in the console');
  for (const [name, does] of [
    ['list', 'list tokens'],
    ['create', 'create a token'],
    ['revoke', 'revoke a token'],
  ] as const) {
    tokens
      .command(name)
      .description(`${does}, on a page of the console`)
      .option('--no-browser', 'only print the address')
      .action(run(account.openTokens));
  }
}

function addProjects(program: Command): void {
  const command = program.command('projects').description('list, show and create projects');
  command
    .command('list')
    .description('list projects, newest first')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(projects.list));
  command
    .command('show')
    .description('show a project')
    .argument('<project>', 'id, slug or name')
    .action(run(projects.show));
  command
    .command('create')
    .description('create a project')
    .argument('<repository>', 'owner/name')
    .option('--name <name>', 'name; by default the name of the repository')
    .action(run(projects.create));
  command
    .command('loop')
    .description('set when the pull requests of a project continue their missions')
    .argument('<project>', 'id, slug or name')
    .option('--rounds <n>', 'maximum number of continuations; 0 means never', whole)
    .option('--hours <n>', 'hours after the start of the first mission', count)
    .option('--cost <usd>', 'cost of all missions of a pull request in US dollars, or none', amountOrNone)
    .action(run(projects.setLoop));
}

function addTasks(program: Command): void {
  const command = program.command('tasks').description('list, create and run scheduled tasks');
  command
    .command('list')
    .description('list scheduled tasks, newest first')
    .option('--project <project>', 'only of this project')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(tasks.list));
  command
    .command('create')
    .description('create a scheduled task')
    .argument('<project>', 'id, slug or name')
    .argument('<prompt>', 'the task for the agent; - reads it from standard input')
    .requiredOption('--name <name>', 'name')
    .requiredOption('--every <interval>', 'daily, weekly or monthly', oneOf(['daily', 'weekly', 'monthly']))
    .option('--at <time>', 'HH:MM', '09:00')
    .option('--zone <zone>', 'IANA time zone', Intl.DateTimeFormat().resolvedOptions().timeZone)
    .option('--weekday <day>', 'weekday of a weekly task', 'monday')
    .option('--day <n>', 'day of a monthly task', count, 1)
    .option('--disabled', 'create it disabled')
    .action(run(tasks.create));
  command
    .command('run')
    .description('run a scheduled task now')
    .argument('<task>', 'id or name')
    .option('--follow', 'follow the run to its end')
    .action(run(tasks.runNow));
}

function addArtifacts(program: Command): void {
  const command = program.command('artifacts').description('list and download artifacts');
  command
    .command('list')
    .description('list artifacts, newest first')
    .option('--run <run>', 'only of this run')
    .option('--project <project>', 'only of this project')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(artifacts.list));
  command
    .command('get')
    .description('download an artifact')
    .argument('<artifact>', 'id')
    .option('-o, --output <file>', 'file to write; standard output by default')
    .action(run(artifacts.get));
}

function endUsage(error: CommanderError): never {
  process.exit(error.exitCode === 0 ? 0 : exitCodes.usage);
}
