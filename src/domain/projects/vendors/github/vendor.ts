// The modules that implement the vendor GitHub.
import type { VendorModule } from '../vendor.ts';
import { checkGitHub } from './check.ts';
import { githubEvents } from './events.ts';
import { githubHost } from './source-host.ts';
import { githubTracker } from './tracker.ts';

export const githubModule: VendorModule = {
  check: checkGitHub,
  tracker: githubTracker,
  sourceHost: githubHost,
  events: githubEvents,
};
