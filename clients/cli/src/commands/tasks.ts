// Scheduled tasks: list, create, run now.
import type { Client, CreateScheduledTaskRequest, ScheduledTask } from '../../../typescript/src/exports.ts';
import { printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';
import { followUnlessDetached, readPrompt } from './runs.ts';

type Schedule = CreateScheduledTaskRequest['triggers'][number]['schedule'];

export async function list(options: CommonOptions & { project?: string; limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const projectId = options.project && (await findProject(client, options.project)).id;
  const tasks = await client.scheduledTasks(projectId ? { projectId } : {}).take(options.limit);
  if (options.json) return printJson(tasks);
  printTable(tasks, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    schedule: ({ triggers }) =>
      triggers.map(({ schedule }) => `${schedule.interval} ${schedule.time} ${schedule.timezone}`).join(', '),
    next: ({ nextRunAt }) => timeOf(nextRunAt),
    enabled: ({ enabled }) => (enabled ? 'yes' : 'no'),
  });
}

interface CreateOptions extends CommonOptions {
  name: string;
  every: Schedule['interval'];
  at: string;
  zone: string;
  weekday: string;
  day: number;
  disabled?: true;
}

export async function create(options: CreateOptions, project: string, prompt: string): Promise<void> {
  const client = await openClient(options.url);
  const { every: interval, at: time, zone: timezone, weekday, day } = options;
  const schedule = {
    interval,
    time,
    timezone,
    ...(interval === 'weekly' && { weekday: weekday as NonNullable<Schedule['weekday']> }),
    ...(interval === 'monthly' && { dayOfMonth: day }),
  };
  const task = await client.createScheduledTask({
    projectId: (await findProject(client, project)).id,
    name: options.name,
    prompt: await readPrompt(prompt),
    triggers: [{ kind: 'schedule', schedule }],
    enabled: !options.disabled,
  });
  if (options.json) printJson(task);
  else printLine(`Created ${task.id}.${task.nextRunAt ? ` It is due at ${timeOf(task.nextRunAt)} UTC.` : ''}`);
}

export async function runNow(options: CommonOptions & { follow?: true }, wanted: string): Promise<void> {
  const client = await openClient(options.url);
  const { id } = await findTask(client, wanted);
  const started = await client.runScheduledTask({ id });
  if (options.follow) return followUnlessDetached(client, started.runId, options);
  if (options.json) printJson(started);
  else printLine(`Started ${started.runId}.`);
}

async function findTask(client: Client, wanted: string): Promise<Pick<ScheduledTask, 'id'>> {
  if (wanted.startsWith('sch_')) return { id: wanted };
  const found: ScheduledTask[] = [];
  for await (const task of client.scheduledTasks()) if (task.name === wanted) found.push(task);
  if (found.length === 1) return found[0]!;
  const reason = found.length === 0 ? 'There is no scheduled task' : `${found.length} scheduled tasks have the name`;
  throw new UserError(`${reason} ${wanted}. "aep tasks list" shows ids.`);
}
