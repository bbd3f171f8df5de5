// GraphQL types for statistics about the quality of missions.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import { epochMs, float, floatOrNull, int, intOrNull, members, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { range } from '#graph/validation.ts';
import {
  countedRuns,
  groupsShown,
  type QualityFigures,
  type QualityFilter,
  type QualityWeek,
  qualityDays,
  qualityFigures,
  qualityGroups,
  qualityWeeks,
  revertDays,
} from '../runs/figures.ts';
import { type Difference, differenceOf, isMoreThanChance, type Share } from './chance.ts';
import { compareVersions, type VersionComparison } from './operations.ts';

/** Query cost of a field that reads all runs of a period. */
const complexity = 200;

const Group = wordSet('QualityGroup', qualityGroups, 'The missions that figures of quality are grouped by.', {
  all: 'One group of all missions.',
  project: 'One group for each project.',
  agent: 'One group for each agent that builds.',
  version: 'One group for each version of the agent that builds.',
});

const share = (count: number, of: number): number | null => (of === 0 ? null : count / of);

const QualityFiguresType = builder.objectRef<QualityFigures>('QualityFigures').implement({
  description:
    'Figures of a group of missions. The runs on one branch are one mission, and a run without a branch is a mission of its own. ' +
    `The agent of a mission is the builder of its first run. Only the newest ${countedRuns.toLocaleString('en-GB')} ended runs of the period count.`,
  fields: (t) =>
    members(t, {
      projectId: stringOrNull('The project; null unless grouped by project.'),
      agentId: stringOrNull(
        'The agent; null for a built-in agent, and when the figures are not grouped by agent or version.',
      ),
      agentName: stringOrNull(
        'The name of the agent when the missions began; null unless grouped by agent or version.',
      ),
      agentVersion: intOrNull(
        'The number of the version; null for a built-in agent, and when the figures are not grouped by version.',
      ),
      missions: int('Number of ended missions.'),
      completed: int('Number of missions whose latest run was completed.'),
      pullRequests: int('Number of missions with a pull request.'),
      merged: int('Number of missions with a merged pull request.'),
      reverted: int(
        `Number of missions whose merged pull request was reverted by another one within ${revertDays} days.`,
      ),
      endedAtLimit: int('Number of missions that ended while they waited for a higher budget or limit.'),
      completedShare: t.float({
        nullable: true,
        description: 'Share of the missions that were completed, 0 to 1.',
        resolve: ({ completed, missions }) => share(completed, missions),
      }),
      mergedShare: t.float({
        nullable: true,
        description: 'Share of the pull requests that were merged, 0 to 1; null without pull requests.',
        resolve: ({ merged, pullRequests }) => share(merged, pullRequests),
      }),
      revertedShare: t.float({
        nullable: true,
        description: 'Share of the merged pull requests that were reverted, 0 to 1; null when none was merged.',
        resolve: ({ reverted, merged }) => share(reverted, merged),
      }),
      msToMerge: floatOrNull(
        'Median of the milliseconds from the start of a mission to its merge; null when none was merged.',
      ),
      msToStart: floatOrNull('Median of the milliseconds until a runtime began a mission; null when none began.'),
      runsPerMission: float('Mean number of runs on the branch of a mission.'),
      messagesPerMission: float('Mean number of messages and answers that people sent to a mission.'),
      costUsd: float('Cost of the missions in US dollars.'),
      costPerMergedUsd: t.float({
        nullable: true,
        description:
          'Cost of all missions of the group in US dollars, divided by the number of merged missions; null when none was merged.',
        resolve: ({ costUsd, merged }) => share(costUsd, merged),
      }),
    }),
});

const QualityWeekType = builder.objectRef<QualityWeek>('QualityWeek').implement({
  description: 'The missions that began in one week.',
  fields: (t) =>
    members(t, {
      start: epochMs('Start of the week: Monday, 00:00 UTC.'),
      missions: int('Number of ended missions.'),
      completed: int('Number of completed missions.'),
      merged: int('Number of missions with a merged pull request.'),
    }),
});

type Filter = Omit<QualityFilter, 'groupBy'>;
const QualityReport = builder.objectRef<{ data: QualityFigures[]; filter: Filter }>('QualityReport').implement({
  description: 'Statistics about the quality of the missions that began in a period.',
  fields: (t) =>
    members(t, {
      data: typed([QualityFiguresType], 'The groups, those with the most missions first.'),
      weeks: t.field({
        type: [QualityWeekType],
        graphOnly: true,
        complexity,
        description:
          'All missions of the filter by the week in which they began, oldest first. Weeks without missions are left out.',
        resolve: ({ filter }, _, { caller }) => qualityWeeks(caller, filter),
      }),
    }),
});

const comparedShares = ['completed', 'merged', 'reverted', 'endedAtLimit'] as const;
const ComparedShare = wordSet('ComparedShare', comparedShares, 'A share that two versions are compared by.', {
  completed: 'Completed missions among all.',
  merged: 'Merged pull requests among all pull requests.',
  reverted: 'Reverted pull requests among the merged ones.',
  endedAtLimit: 'Missions that ended while they waited for a higher limit, among all.',
});

interface ShareDifference extends Difference {
  share: (typeof comparedShares)[number];
}

const ShareDifferenceType = builder.objectRef<ShareDifference>('ShareDifference').implement({
  description: 'How much one share, such as that of completed missions, differs between two versions of an agent.',
  fields: (t) =>
    members(t, {
      share: typed(ComparedShare.type, 'The share.'),
      difference: float('The share of the second version minus that of the first one, -1 to 1.'),
      low: float('Lower bound of the 95 % confidence interval of the difference.'),
      high: float('Upper bound of the 95 % confidence interval of the difference.'),
      isMoreThanChance: t.boolean({
        description: 'Whether the interval excludes 0, so that the versions differ by more than chance.',
        resolve: isMoreThanChance,
      }),
    }),
});

const sharesOf = (one: QualityFigures): Record<(typeof comparedShares)[number], Share> => ({
  completed: { count: one.completed, of: one.missions },
  merged: { count: one.merged, of: one.pullRequests },
  reverted: { count: one.reverted, of: one.merged },
  endedAtLimit: { count: one.endedAtLimit, of: one.missions },
});

function differencesOf({ first, second }: VersionComparison): ShareDifference[] {
  if (!first || !second) return [];
  const [before, after] = [sharesOf(first), sharesOf(second)];
  return comparedShares.flatMap((name) => {
    const difference = differenceOf(before[name], after[name]);
    return difference ? [{ share: name, ...difference }] : [];
  });
}

const ComparisonType = builder.objectRef<VersionComparison>('AgentVersionComparison').implement({
  description:
    'The figures of two versions of an agent. For shares such as the share of completed missions, `differences` says whether the versions differ by more than chance.',
  fields: (t) =>
    members(t, {
      first: t.field({
        type: QualityFiguresType,
        nullable: true,
        description: 'The figures of the first version; null without missions.',
        resolve: ({ first }) => first,
      }),
      second: t.field({
        type: QualityFiguresType,
        nullable: true,
        description: 'The figures of the second version; null without missions.',
        resolve: ({ second }) => second,
      }),
      differences: t.field({
        type: [ShareDifferenceType],
        description:
          'Each entry compares one share of the two versions, such as the share of completed missions among all missions. Only shares that are known for both versions are listed.',
        resolve: differencesOf,
      }),
    }),
});

const version = { required: true, validate: { schema: z.int().min(1) } } as const;
const period = builder.args((t) => ({
  days: t.int({
    required: true,
    defaultValue: qualityDays.default,
    description: `Only missions that began in this number of days before now are counted: ${range(qualityDays)}.`,
    validate: { schema: z.int().min(qualityDays.min).max(qualityDays.max) },
  }),
}));
const filters = builder.args((t) => ({
  projectId: t.string({ ...filter, description: 'Only missions of this project.' }),
  agentId: t.string({ ...filter, description: 'Only missions of this agent.' }),
}));

builder.queryFields((t) => ({
  qualityFigures: t.field({
    description: `The quality of missions that have ended, in figures for each group of missions. Only the ${groupsShown} groups with the most missions are listed.`,
    scope: 'missions:read',
    rest: 'GET /quality-figures',
    tool: 'get_quality_figures',
    type: QualityReport,
    complexity,
    args: {
      groupBy: t.arg({ type: Group.type, required: true, defaultValue: 'agent', description: 'The groups.' }),
      ...period,
      ...filters,
    },
    resolve: async (_, args, { caller }) => ({ data: await qualityFigures(caller, args), filter: args }),
  }),
  compareAgentVersions: t.field({
    description: 'Compares the missions of two versions of an agent.',
    scope: 'missions:read',
    tool: 'compare_agent_versions',
    type: ComparisonType,
    complexity,
    args: {
      agentId: t.arg.string(pathId),
      first: t.arg.int({ ...version, description: 'The number of a version.' }),
      second: t.arg.int({ ...version, description: 'The number of another version.' }),
      ...period,
    },
    resolve: (_, args, { caller }) => compareVersions(caller, args),
  }),
}));
