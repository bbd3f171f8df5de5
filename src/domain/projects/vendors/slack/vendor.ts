// The modules that implement the vendor Slack.
import type { VendorModule } from '../vendor.ts';
import { slackChat } from './chat.ts';
import { checkSlack } from './check.ts';

export const slackModule: VendorModule = { check: checkSlack, chat: slackChat };
