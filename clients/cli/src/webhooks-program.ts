// The commands for webhooks: endpoints that receive events, and the deliveries to them.
import type { Command } from 'commander';
import { count, date, oneOf, repeated, run } from './arguments.ts';
import * as webhooks from './commands/webhooks.ts';

const statuses = ['pending', 'delivered', 'failed'];

export function addWebhooks(program: Command): void {
  const command = program.command('webhooks').description('endpoints of your systems that receive signed events');
  const ofEndpoint = (name: string, description: string): Command =>
    command.command(name).description(description).argument('<endpoint>', 'id or name');
  command
    .command('list')
    .description('list endpoints, newest first')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(webhooks.list));
  command
    .command('create')
    .description('create an endpoint and print its secret, which is shown only once')
    .argument('<name>', 'name')
    .argument('<url>', 'https address of a public host')
    .option('--type <type>', 'a type such as run.completed, or run.* for all events of runs; may be repeated', repeated)
    .option('--project <project>', 'events of this project only: id, slug or name; may be repeated', repeated)
    .option('--ordered', 'send events one at a time, in order')
    .action(run(webhooks.create));
  ofEndpoint('rotate', 'replace the secret and print the new one; both secrets sign for another day').action(
    run(webhooks.rotate),
  );
  ofEndpoint('test', 'send a test event at once and print the response; exits with 1 unless it is 2xx').action(
    run(webhooks.test),
  );
  ofEndpoint('disable', 'send nothing to an endpoint').action(run(webhooks.disable));
  ofEndpoint('enable', 'send events again, from where the endpoint stopped').action(run(webhooks.enable));
  ofEndpoint('delete', 'delete an endpoint and the list of its deliveries').action(run(webhooks.remove));
  const filtered = (name: string, description: string) =>
    ofEndpoint(name, description)
      .option('--status <status>', statuses.join(', '), oneOf(statuses))
      .option('--from <date>', 'deliveries recorded at this time or later', date)
      .option('--before <date>', 'deliveries recorded before this time', date);
  filtered('deliveries', 'list events of the last 30 days with the responses to them, newest first')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(webhooks.deliveries));
  filtered('resend', 'send an event once more, or all that match')
    .argument('[delivery]', 'id of the delivery; without it, give a period with --from')
    .action(run(webhooks.resend));
}
