// Several attempts at one task, side by side: a person compares them and chooses one.
import { attemptsLive, attempts as attemptsOfGroup, chooseAttempt, closeAttempts } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { useLive } from '../kit/live.ts';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Loaded } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { dollars, plural, Time } from '../kit/words.tsx';
import { AttemptCard } from './attempt-card.tsx';
import { AttemptFiles } from './attempt-files.tsx';
import { type Group, isOpenRun } from './group.ts';
import './attempts.css';

export function Attempts({ id: attemptGroupId }: { id: string }) {
  const { data, problem, read, change } = useReading(attemptsOfGroup, { attemptGroupId });
  const group = data?.attemptGroup;
  const isSettled = group !== undefined && group.state !== 'open' && !group.attempts.some(isOpenRun);
  const show = (attemptGroup: Group) => change(() => ({ attemptGroup }));
  useLive({
    operation: attemptsLive,
    variables: { attemptGroupId },
    take: ({ attemptGroupUpdated }) => show(attemptGroupUpdated),
    poll: read,
    isOver: () => isSettled,
  });
  const project = group?.attempts[0]?.run.project;
  return (
    <>
      <Heading
        title={group?.title ?? null}
        above={[
          [pageAt('/runs'), 'Missions'],
          ...(group && project ? [[pageAt(`/projects/${group.projectId}`), project.name] as [string, string]] : []),
        ]}
      >
        <CopyAs
          graphql={`{ attemptGroup(attemptGroupId: "${attemptGroupId}") { state attempts { number review run { status } } } }`}
          client={`client.attemptGroup({ attemptGroupId: '${attemptGroupId}' })`}
          cli={`aep attempts ${attemptGroupId}`}
        />
        {group?.state === 'open' && may('missions:run') && (
          <Action
            label="Close all"
            class="danger slim"
            question="All attempts end without a choice, and their branches are deleted."
            act={async () => show((await ask(closeAttempts, { attemptGroupId })).closeAttempts)}
          />
        )}
      </Heading>
      <Loaded value={group} problem={problem} retry={read} rows={3} height={160}>
        {(group) => (
          <>
            <Decision group={group} />
            <div class="attempts">
              {group.attempts.map((attempt) => (
                <AttemptCard
                  key={attempt.number}
                  attempt={attempt}
                  group={group}
                  choose={async (runId) => show((await ask(chooseAttempt, { runId })).chooseAttempt)}
                />
              ))}
            </div>
            <AttemptFiles attempts={group.attempts} />
            <Card title="Task">
              <p class="prompt">{group.prompt}</p>
            </Card>
          </>
        )}
      </Loaded>
    </>
  );
}

/** Shows the choice that a person has made, or how many attempts are still working, and the cost of all attempts. */
function Decision({ group }: { group: Group }) {
  const { state, decidedBy, decidedAt, chosenRunId, attempts, costUsd, budgetUsd } = group;
  const chosen = attempts.find(({ run }) => run.id === chosenRunId);
  const working = attempts.filter(isOpenRun).length;
  const cost = `${dollars(costUsd)}${budgetUsd === null ? '' : ` of ${dollars(budgetUsd)}`} together`;
  return (
    <p class="about" role="status">
      {state === 'open' &&
        (working > 0
          ? `${plural(working, 'attempt')} of ${attempts.length} still working. You can choose at any time. `
          : 'All attempts have ended: choose one. ')}
      {chosen && (
        <>
          {decidedBy} chose <a href={pageAt(`/runs/${chosen.run.id}`)}>attempt {chosen.number}</a>{' '}
          <Time at={decidedAt!} />.{' '}
        </>
      )}
      {state === 'closed' && (
        <>
          {decidedBy} closed all attempts <Time at={decidedAt!} />.{' '}
        </>
      )}
      <span class="muted">{cost}</span>
    </p>
  );
}
