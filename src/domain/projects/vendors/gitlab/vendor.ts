// The modules that implement the vendor GitLab.
import type { VendorModule } from '../vendor.ts';
import { checkGitLab } from './check.ts';
import { gitlabEvents } from './events.ts';
import { gitlabHost } from './source-host.ts';
import { gitlabTracker } from './tracker.ts';

export const gitlabModule: VendorModule = {
  check: checkGitLab,
  tracker: gitlabTracker,
  sourceHost: gitlabHost,
  events: gitlabEvents,
};
