// Scheduled tasks and automations have the same fields, but each kind has its own operations. The responses of both kinds name their fields
// equally, so the same pages show both kinds.

import {
  automation,
  automationRuns,
  automations,
  automationTemplates,
  createAutomation,
  createScheduledTask,
  deleteAutomation,
  deleteScheduledTask,
  runAutomation,
  runScheduledTask,
  scheduledTask,
  scheduledTasks,
  taskRuns,
  taskTemplates,
  updateAutomation,
  updateScheduledTask,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { pageAt } from '../kit/page.ts';

const task = {
  one: 'scheduled task',
  title: 'Scheduled task',
  base: pageAt('/tasks'),
  writes: 'scheduled-tasks:write',
  list: scheduledTasks,
  read: scheduledTask,
  runs: taskRuns,
  templates: taskTemplates,
  create: createScheduledTask,
  update: updateScheduledTask,
  remove: deleteScheduledTask,
  run: runScheduledTask,
};

export type Kind = typeof task;

export const kinds = {
  tasks: task,
  automations: {
    one: 'automation',
    title: 'Automation',
    base: pageAt('/automations'),
    writes: 'automations:write',
    list: automations,
    read: automation,
    runs: automationRuns,
    templates: automationTemplates,
    create: createAutomation,
    update: updateAutomation,
    remove: deleteAutomation,
    run: runAutomation,
  } satisfies Kind,
};

/** Starts a mission now and returns the id of the run. */
export const runNow = async ({ run }: Kind, id: string, key: string): Promise<string> =>
  (await mutate(run, { id }, key)).started.runId;
