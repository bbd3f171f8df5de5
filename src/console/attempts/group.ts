// Types of the attempts at one task, as the query of the page returns them.
import type { AttemptGroupPartsFragment } from '../generated/documents.ts';

export type Group = AttemptGroupPartsFragment;
export type Attempt = Group['attempts'][number];

export const isOpenRun = ({ run }: Attempt): boolean => run.status === 'running' || run.status === 'dispatching';
