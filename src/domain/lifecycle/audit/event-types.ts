// Names of event types in filters of the events feed.
import { auditActions, auditSources } from './sources.ts';

/** Maximum number of types in a filter, and maximum length of a type in characters. */
export const eventTypes = { max: 50, length: { min: 1, max: 101 } } as const;

const nouns = new Set([...Object.values(auditSources), ...Object.values(auditActions)].map(({ noun }) => noun));
const typeName = /^([a-z0-9_]{1,50})\.(\*|[\w-]{1,50})$/;

/** Whether the name is a type such as `run.completed`, or `run.*` for all types of one resource. */
export const isEventType = (name: string): boolean => nouns.has(typeName.exec(name)?.[1] ?? '');
export const eventTypeRule = 'must be a type such as `run.completed`, or a kind of record followed by `.*`';
