// The tracker of a project.
import type { Row } from '#foundation/postgres/base-model.ts';
import type { Project } from '../projects/model.ts';
import { moduleOf } from './registry.ts';
import type { Tracker } from './tracker.ts';

export const trackerOf = ({ tracker }: Row<Project>): Tracker => moduleOf(tracker).tracker!;
