// The tracker of a project.
import type { Row } from '#foundation/postgres/base-model.ts';
import type { Project, ProjectTracker } from '../projects/model.ts';
import { builtin } from './builtin.ts';
import { githubTracker } from './github.ts';
import { linear } from './linear.ts';
import type { Tracker } from './tracker.ts';

const trackers: Record<ProjectTracker, Tracker> = { builtin, linear, github: githubTracker };

export const trackerOf = ({ tracker }: Row<Project>): Tracker => trackers[tracker];
