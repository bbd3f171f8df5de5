// Which hosts may be asked for a binding. Pure.
import type { McpBinding } from './model.ts';

/** That of its pinned address, and those that a person allows. */
export const mayReach =
  ({ pinnedUrl, allowedEgressHosts }: Pick<McpBinding, 'pinnedUrl' | 'allowedEgressHosts'>) =>
  (hostname: string): boolean =>
    (pinnedUrl !== null && hostname === new URL(pinnedUrl).hostname) || allowedEgressHosts.includes(hostname);
