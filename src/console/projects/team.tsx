// The team of a project. One switch adds a planner, a reviewer and QA to the builder.
import { project as oneProject, setProjectTeam } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { may } from '../kit/page.ts';
import { Action, Card, Pill } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

const words = {
  on: 'A planner writes the plan, a reviewer reads each change and QA tests it. Your own agents are preferred to the built-in ones.',
  off: 'A builder works without other roles.',
  automatic: 'A builder works with the organization’s own planner, reviewer and QA, if it has any.',
};

export function Team({ projectId }: { projectId: string }) {
  const { data, read } = useReading(oneProject, { projectId });
  if (!data) return null;
  const { hasTeam } = data.project;
  const state = hasTeam === null ? 'automatic' : hasTeam ? 'on' : 'off';
  const turn = (to: boolean) => async (key: string) => {
    await mutate(setProjectTeam, { projectId, hasTeam: to }, key);
    read();
  };
  return (
    <Card title="Team" aside={<Pill status={state} />}>
      <p class="muted">{words[state]} The team works on missions that name no agent.</p>
      {may('projects:write') && (
        <div class="actions">
          {state !== 'on' && <Action label="Turn on" describes="Turn on the team" act={turn(true)} />}
          {state !== 'off' && <Action label="Turn off" describes="Turn off the team" act={turn(false)} />}
        </div>
      )}
    </Card>
  );
}
