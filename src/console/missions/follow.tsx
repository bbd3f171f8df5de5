// The button that follows or unfollows another person's mission.
import { followRun, type RunPartsFragment, unfollowRun } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { person } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';

interface Properties {
  run: RunPartsFragment;
  show(run: RunPartsFragment): void;
}

/**
 * The button with which a person follows a mission or stops following it. The person who is responsible for the mission is always notified,
 * and gets no button.
 */
export function Follow({ run, show }: Properties) {
  const variables = { runId: run.id };
  if (run.isFollowed)
    return (
      <Action
        label="Unfollow"
        describes="Unfollow mission"
        act={async () => show((await ask(unfollowRun, variables)).unfollowRun)}
      />
    );
  if (run.personId === person) return null;
  return (
    <Action
      label="Follow"
      describes="Follow mission"
      act={async () => show((await ask(followRun, variables)).followRun)}
    />
  );
}
