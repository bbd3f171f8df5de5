// Guides through the console: a few sentences, each with its page. Each person follows them at their own pace.

import { followGuide, type SetupQuery } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { pageAt } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';

type Guide = SetupQuery['setup']['guides'][number];

interface Content {
  name: string;
  steps: readonly (readonly [sentence: string, address: string, label: string])[];
}

const runs = pageAt('/runs');
const contents: Record<string, Content> = {
  'mission-control': {
    name: 'Watch your missions',
    steps: [
      ['The overview shows missions in progress as they change, and their sandboxes.', runs, 'Open missions'],
      [
        'The inbox lists what waits for you: plans, questions, tool calls, limits, reviews and failures.',
        pageAt('/inbox'),
        'Open inbox',
      ],
      [
        'Cost today shows what missions have cost since midnight UTC; no mission starts once the daily cap is reached.',
        pageAt('/settings'),
        'Open settings',
      ],
    ],
  },
  'mission-detail': {
    name: 'Follow one mission',
    steps: [
      [
        'The page of a mission shows its agents, their tool calls and their log while they work.',
        runs,
        'Open missions',
      ],
      ['Send a message to steer the agent, which reads it while working.', runs, 'Open missions'],
      ['Interrupt a mission, resume it, or cancel it.', runs, 'Open missions'],
    ],
  },
  'mission-results': {
    name: 'Use the result',
    steps: [
      ['The page of an ended mission shows its commits, files, branch and pull request.', runs, 'Open missions'],
      ['Screenshots, reports and other files of missions are kept as artifacts.', runs, 'Open missions'],
      ['Continue from a step to ask for more: the next mission begins with its files.', runs, 'Open missions'],
    ],
  },
};

export const Guides = ({ guides, read }: { guides: Guide[]; read(): void }) => (
  <details class="more">
    <summary>
      Guides: {guides.filter(({ completedAt }) => completedAt !== null).length} of {guides.length} completed
    </summary>
    <ul class="rows">
      {guides.map((guide) => (
        <GuideRow key={guide.id} guide={guide} read={read} />
      ))}
    </ul>
  </details>
);

function GuideRow({ guide, read }: { guide: Guide; read(): void }) {
  const { name, steps } = contents[guide.id]!;
  const isCompleted = guide.completedAt !== null;
  // A program may have recorded a number above that of the last step.
  const step = Math.min(guide.step, steps.length);
  const shown = isCompleted ? undefined : steps[step - 1];
  const follow = (label: string, to: number, completed = false) => (
    <Action
      label={label}
      describes={`${label}: ${name}`}
      act={() => ask(followGuide, { guideId: guide.id, step: to, completed }).then(read)}
    />
  );
  return (
    <li class="next-row">
      <div class="grow">
        <strong>{name}</strong>
        {shown && (
          <div>
            {step} of {steps.length}: {shown[0]} <a href={shown[1]}>{shown[2]}</a>
          </div>
        )}
      </div>
      {isCompleted && <span class="tag good">Done</span>}
      {isCompleted || step === 0
        ? follow(isCompleted ? 'Start again' : 'Start', 1)
        : step < steps.length
          ? follow('Next', step + 1)
          : follow('Finish', step, true)}
    </li>
  );
}
