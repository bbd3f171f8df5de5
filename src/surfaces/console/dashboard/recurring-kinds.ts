// Scheduled tasks and automations: one shape, with operations of their own.
import { ask, mutate } from './client.ts';
import {
  automation,
  automationRuns,
  automationTemplates,
  type CreateScheduledTaskRequest,
  createAutomation,
  createScheduledTask,
  deleteAutomation,
  deleteScheduledTask,
  runAutomation,
  runScheduledTask,
  scheduledTask,
  type TaskPartsFragment,
  taskRuns,
  taskTemplates,
  type UpdateScheduledTaskRequest,
  updateAutomation,
  updateScheduledTask,
} from './documents.ts';

export const runTask = async (id: string, key: string) =>
  (await mutate(runScheduledTask, { id }, key)).runScheduledTask.runId;
export const runOfAutomation = async (id: string, key: string) =>
  (await mutate(runAutomation, { id }, key)).runAutomation.runId;

const tasks = {
  one: 'scheduled task',
  title: 'Scheduled task',
  base: '/console/tasks',
  writes: 'scheduled-tasks:write',
  read: async (id: string): Promise<TaskPartsFragment> => (await ask(scheduledTask, { id })).scheduledTask,
  runs: async (id: string) => (await ask(taskRuns, { id, limit: 10 })).scheduledTaskRuns.data,
  templates: async () => (await ask(taskTemplates, {})).scheduledTaskTemplates.data,
  create: async (input: CreateScheduledTaskRequest, key: string) =>
    (await mutate(createScheduledTask, { input }, key)).createScheduledTask.id,
  update: (id: string, input: UpdateScheduledTaskRequest, key: string): Promise<unknown> =>
    mutate(updateScheduledTask, { id, input }, key),
  remove: (id: string, key: string): Promise<unknown> => mutate(deleteScheduledTask, { id }, key),
  run: runTask,
};

export type Kind = typeof tasks;

const automations: Kind = {
  one: 'automation',
  title: 'Automation',
  base: '/console/automations',
  writes: 'automations:write',
  read: async (id) => (await ask(automation, { id })).automation,
  runs: async (id) => (await ask(automationRuns, { id, limit: 10 })).automationRuns.data,
  templates: async () => (await ask(automationTemplates, {})).automationTemplates.data,
  create: async (input, key) => (await mutate(createAutomation, { input }, key)).createAutomation.id,
  update: (id, input, key) => mutate(updateAutomation, { id, input }, key),
  remove: (id, key) => mutate(deleteAutomation, { id }, key),
  run: runOfAutomation,
};

export const kinds = { tasks, automations };
