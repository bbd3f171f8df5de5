// Checks the token of a Slack app by auth.test, and names the workspace.
import type { VendorConnection } from '../connection.ts';
import { accepted, type Verdict } from '../vendor.ts';
import { slackChat } from './chat.ts';

export const checkSlack = async (connection: VendorConnection): Promise<Verdict> =>
  accepted((await slackChat.account(connection)).workspaceId);
