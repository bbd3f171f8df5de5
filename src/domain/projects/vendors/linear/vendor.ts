// The modules that implement the vendor Linear.
import type { VendorModule } from '../vendor.ts';
import { checkLinear } from './check.ts';
import { linearEvents } from './events.ts';
import { linearSessions } from './sessions.ts';
import { linearTracker } from './tracker.ts';

export const linearModule: VendorModule = {
  check: checkLinear,
  tracker: linearTracker,
  events: linearEvents,
  sessions: linearSessions,
};
