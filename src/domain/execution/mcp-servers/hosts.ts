// Hosts that requests of a binding may reach.
import type { McpBinding } from './model.ts';

/** The host of the bound URL, and the hosts that a person allows. */
export const mayReach =
  ({ pinnedUrl, allowedEgressHosts }: Pick<McpBinding, 'pinnedUrl' | 'allowedEgressHosts'>) =>
  (hostname: string): boolean =>
    (pinnedUrl !== null && hostname === new URL(pinnedUrl).hostname) || allowedEgressHosts.includes(hostname);
