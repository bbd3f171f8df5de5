// Finds the tracker that a project uses.
import type { Project } from '../projects/model.ts';
import { moduleOf } from './registry.ts';
import type { Tracker } from './tracker.ts';

export const trackerOf = ({ tracker }: Project): Tracker => moduleOf(tracker).tracker!;
