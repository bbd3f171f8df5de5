// The part above the overview: notices, and setup progress until it is complete.

import {
  dismissNotice,
  markMilestone,
  type SetupMark,
  type SetupMilestoneId,
  type SetupQuery,
  type SetupRequirementId,
} from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { may, pageAt } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';
import { Guides } from './guides.tsx';

type Step = readonly [hint: string, address: string, label: string];

/** Connections that a person must create before agents can work. Each has a name, a hint, a URL and a label. */
const requirements: Record<SetupRequirementId, readonly [name: string, ...Step]> = {
  model: [
    'Connect a model',
    'Agents work with a model of Anthropic or OpenAI: connect one with its API key.',
    pageAt('/integrations?connect=model'),
    'Connect model',
  ],
  source_host: [
    'Connect a source host',
    'Agents read repositories from a source host and push their changes to it.',
    pageAt('/integrations?connect=repository'),
    'Connect source host',
  ],
};

/** Hint, URL and label of each milestone. */
const steps: Record<Exclude<SetupMilestoneId, 'custom_sandbox'>, Step> = {
  workspace: [
    'A project connects a repository with a tracker and its missions.',
    pageAt('/projects/new'),
    'Create project',
  ],
  first_mission: ['Start a mission in a project and follow it to its end.', pageAt('/runs/new'), 'Start mission'],
  first_review: ['Run a mission in which a reviewer reads the change.', pageAt('/runs'), 'Open missions'],
  first_merge: ['Review the change of a mission and merge it.', pageAt('/runs'), 'Open missions'],
  preview_deployment: [
    'A mission opens a preview environment when it has a change to show.',
    pageAt('/runs'),
    'Open missions',
  ],
  agent_instructions: ['Create an agent with your own instructions.', pageAt('/agents/new'), 'Create agent'],
  mcp_servers: ['Each project has a page for its MCP servers.', pageAt('/projects'), 'Open projects'],
  teammate: ['Invite somebody by email.', pageAt('/members'), 'Open members'],
  steer_mission: ['Send a message to a mission while it runs.', pageAt('/runs'), 'Open missions'],
  checkpoints: ['Continue a mission from an earlier state.', pageAt('/runs'), 'Open missions'],
  scheduled_task: [
    'A scheduled task starts missions at the times that you set.',
    pageAt('/tasks/new'),
    'Create scheduled task',
  ],
  agent_to_pr: [
    'A mission in a repository at a source host pushes a branch and opens a pull request.',
    pageAt('/runs/new'),
    'Start mission',
  ],
};

interface Properties {
  data: SetupQuery;
  read(): void;
}

export const Lead = ({ data: { setup, notices }, read }: Properties) => (
  <>
    {notices && <Notices notices={notices.notices.filter(({ id }) => !id.startsWith('person_needed:'))} read={read} />}
    {setup && !setup.complete && setup.next && <Setup setup={setup} next={setup.next} read={read} />}
  </>
);

/** Notices; missions that wait for a person to act have their own list below. */
function Notices({ notices, read }: { notices: SetupQuery['notices']['notices']; read(): void }) {
  if (notices.length === 0) return null;
  return (
    <section class="lead-part" aria-label="Notices">
      {notices.map(({ id, kind, title, body, actionUrl }) => (
        <div key={id} class={`note row ${kind === 'action' ? 'error' : ''}`}>
          <div>
            <strong>{title}</strong>
            <div>{body}</div>
          </div>
          <div class="actions">
            {actionUrl && (
              <a class="button quiet slim" href={actionUrl}>
                Open <span class="unseen">{title}</span>
              </a>
            )}
            {may('setup:write') && (
              <Action
                label="Dismiss"
                describes={`Dismiss ${title}`}
                act={() => ask(dismissNotice, { noticeId: id }).then(read)}
              />
            )}
          </div>
        </div>
      ))}
      <p class="small">
        <a href={pageAt('/notifications')}>Choose what is emailed to you</a>
      </p>
    </section>
  );
}

function Setup({ setup, next, read }: { setup: SetupQuery['setup']; next: SetupMilestoneId; read(): void }) {
  const milestones = setup.groups.flatMap((group) => group.milestones);
  const unmet = setup.requirements.find(({ isMet }) => !isMet);
  const name = unmet ? requirements[unmet.id][0] : milestones.find(({ id }) => id === next)!.name;
  const [hint, address, label] = unmet ? stepOfRequirement(unmet.id) : stepOf(next);
  const met = setup.requirements.filter(({ isMet }) => isMet).length;
  const mark = (id: SetupMilestoneId, words: string, described: string, as: SetupMark) =>
    may('setup:write') && (
      <Action
        label={words}
        describes={`${words} ${described}`}
        act={() => ask(markMilestone, { milestoneId: id, mark: as }).then(read)}
      />
    );
  return (
    <section class="panel lead-part" aria-label="Setup">
      <header class="panel-head">
        <h2>Next step: {name}</h2>
        <div class="aside">
          {setup.reachedCount + met} of {setup.totalCount + setup.requirements.length} done
        </div>
      </header>
      <p class="muted">{hint}</p>
      <div class="actions">
        <a class="button slim" href={address}>
          {label}
        </a>
        {!unmet && mark(next, 'Skip', name, 'skipped')}
      </div>
      <details class="more">
        <summary>All steps</summary>
        <h3>Connect</h3>
        <ul class="rows">
          {setup.requirements.map(({ id, isMet }) => (
            <li key={id} class="next-row">
              <a class="grow" href={stepOfRequirement(id)[1]}>
                {requirements[id][0]}
              </a>
              {isMet && <span class="tag good">Done</span>}
            </li>
          ))}
        </ul>
        {setup.groups.map((group) => (
          <div key={group.id}>
            <h3>{group.name}</h3>
            <ul class="rows">
              {group.milestones.map((one) => (
                <li key={one.id} class="next-row">
                  <a class="grow" href={stepOf(one.id)[1]}>
                    {one.name}
                  </a>
                  {one.state === 'done' && <span class="tag good">Done</span>}
                  {one.state === 'skipped' && <span class="tag">Skipped</span>}
                  {one.state === 'open' && mark(one.id, 'Skip', one.name, 'skipped')}
                  {one.state === 'skipped' && mark(one.id, 'Bring back', one.name, 'reset')}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </details>
      {may('setup:write') && <Guides guides={setup.guides} read={read} />}
    </section>
  );
}

const stepOf = (id: SetupMilestoneId): Step => steps[id as keyof typeof steps];

const stepOfRequirement = (id: SetupRequirementId): Step => {
  const [, ...step] = requirements[id];
  return step;
};
