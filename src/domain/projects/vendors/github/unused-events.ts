// Events from GitHub that start no mission, but cause checks of pull requests or connectors, or a message for people.
import { type ReadPayload, readerOf } from '../event-reader.ts';
import { AccountMoved, InstallationEvent, Push, RepositoryMoved } from './event-shapes.ts';

export const unusedEvents: Readonly<Record<string, ReadPayload>> = {
  push: readerOf(Push, ({ ref, repository: { full_name: repository } }) => {
    const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
    return branch
      ? {
          reason: `The branch ${branch} has changed: the pull requests of missions into this branch are checked.`,
          moved: { repository, branch },
        }
      : { reason: 'A tag starts nothing.' };
  }),
  installation: readerOf(InstallationEvent, ({ action, installation: { id, account } }) => ({
    reason: `The installation ${id} of the App at ${account?.login ?? 'GitHub'} has the event ${action}: its connectors are checked.`,
    changesAccess: true,
  })),
  installation_target: readerOf(AccountMoved, ({ account: { login }, changes }) => ({
    reason: `The account ${changes?.login?.from ?? 'of the installation'} is now ${login}: its projects are updated.`,
    changesAccess: true,
    ...(changes?.login && { formerly: { owner: changes.login.from } }),
  })),
  repository: readerOf(RepositoryMoved, ({ action, repository: { full_name }, changes }) => {
    if (action !== 'renamed' && action !== 'transferred')
      return { reason: `A repository that is ${action} starts nothing.` };
    const [owner, name] = full_name.split('/') as [string, string];
    const from = changes?.owner?.from;
    const formerly = {
      owner: from?.user?.login ?? from?.organization?.login ?? owner,
      repository: changes?.repository?.name.from ?? name,
    };
    return {
      reason: `The repository ${formerly.owner}/${formerly.repository} is now ${full_name}: its projects are updated.`,
      formerly,
    };
  }),
};
