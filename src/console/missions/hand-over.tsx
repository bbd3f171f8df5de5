// Hands a mission over to another member. The members are loaded when a person opens the list.
import { useRef, useState } from 'preact/hooks';
import { handOverRun, memberNames, type RunPartsFragment } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { org as orgId } from '../kit/page.ts';
import { Action, Empty, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

interface Properties {
  run: RunPartsFragment;
  show(run: RunPartsFragment): void;
}

export function HandOver({ run, show }: Properties) {
  const details = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    details.current!.open = false;
    details.current!.querySelector('summary')!.focus();
  };
  const handedOver = (updated: RunPartsFragment) => {
    close();
    show(updated);
  };
  return (
    <details
      class="copy-as"
      ref={details}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onKeyDown={({ key }) => key === 'Escape' && isOpen && close()}
    >
      <summary class="button quiet slim">Hand over</summary>
      <div class="copy-ways people">
        <p class="muted small">
          Updates, questions and inbox items of the mission go to that person. Billing does not change.
        </p>
        {isOpen && <People run={run} handedOver={handedOver} />}
      </div>
    </details>
  );
}

function People({ run, handedOver }: { run: RunPartsFragment; handedOver(run: RunPartsFragment): void }) {
  const { data, problem, read } = useReading(memberNames, { orgId });
  if (problem) return <ErrorNote problem={problem} retry={read} />;
  if (!data) return <Skeleton rows={3} height={28} />;
  const others = data.memberships.memberships.filter(
    ({ userId, role }) => userId !== run.personId && role !== 'viewer',
  );
  if (others.length === 0) return <Empty>Nobody else in this organization can run missions.</Empty>;
  return others.map(({ userId, person }) => (
    <Action
      key={userId}
      label={person?.name ?? userId}
      describes={`Hand over to ${person?.name ?? userId}`}
      act={async () => handedOver((await ask(handOverRun, { runId: run.id, userId })).handOverRun)}
    />
  ));
}
