// Hands a mission to another member.
import { useState } from 'preact/hooks';
import { handOverRun, memberNames, type RunPartsFragment } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { org as orgId } from '../kit/page.ts';
import { Action, Card, ErrorNote } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

interface Properties {
  run: RunPartsFragment;
  show(run: RunPartsFragment): void;
}

export function HandOver({ run, show }: Properties) {
  const { data, problem, read } = useReading(memberNames, { orgId });
  const [personId, choose] = useState('');
  const others = data?.memberships.memberships.filter(
    ({ userId, role }) => userId !== run.personId && role !== 'viewer',
  );
  if (problem) return <ErrorNote problem={problem} retry={read} />;
  if (!others?.length) return null;
  return (
    <Card title="Hand over">
      <div class="decisions">
        <select
          aria-label="Person who gets the mission"
          value={personId}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">Choose a person</option>
          {others.map(({ userId, person }) => (
            <option key={userId} value={userId}>
              {person?.name ?? userId}
            </option>
          ))}
        </select>
        {personId && (
          <Action
            label="Hand over"
            describes="Hand over mission"
            act={async () => {
              show((await ask(handOverRun, { runId: run.id, userId: personId })).handOverRun);
              choose('');
            }}
          />
        )}
      </div>
      <p class="muted small">Its news, questions and inbox items go to that person. Costs stay where they are.</p>
    </Card>
  );
}
