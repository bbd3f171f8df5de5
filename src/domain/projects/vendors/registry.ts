// The module of each vendor, which implements its connectors.

import type { Vendor } from '../integrations/model.ts';
import { builtinModule } from './builtin/vendor.ts';
import { githubModule } from './github/vendor.ts';
import { gitlabModule } from './gitlab/vendor.ts';
import { languageModels } from './language-models/vendor.ts';
import { linearModule } from './linear/vendor.ts';
import { slackModule } from './slack/vendor.ts';
import type { VendorModule } from './vendor.ts';

const modules: Readonly<Record<Vendor, VendorModule>> = {
  builtin: builtinModule,
  linear: linearModule,
  github: githubModule,
  gitlab: gitlabModule,
  anthropic: languageModels,
  openai: languageModels,
  slack: slackModule,
};

export const moduleOf = (vendor: Vendor): VendorModule => modules[vendor];
