// The modules that implement the built-in vendor.
import type { VendorModule } from '../vendor.ts';
import { localGit } from './local-git.ts';
import { builtinTracker } from './tracker.ts';

export const builtinModule: VendorModule = { tracker: builtinTracker, sourceHost: localGit };
