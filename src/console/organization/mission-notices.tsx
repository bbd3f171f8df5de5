// Settings for notifications about the person's missions: email and browser, for each kind of event.
import { useState } from 'preact/hooks';
import {
  type MissionNoticeChoicesQuery,
  type MissionNoticeKind,
  missionNoticeChoices,
  updateMissionNotices,
} from '../generated/documents.ts';
import { allowBrowserNews, browserPermission } from '../kit/browser-news.tsx';
import { ask, mutate } from '../kit/client.ts';
import { FormFrame } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { Card, Loaded, StatusMessage } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

const kinds: Record<MissionNoticeKind, string> = {
  completed: 'The mission is completed',
  review: 'The pull request waits for a review',
  failed: 'The mission has failed',
  answer: 'The agent asks a question',
  approval: 'The plan or a tool call waits for approval',
  budget: 'The mission has reached a limit on money, time, model calls or tokens',
  handover: 'Somebody hands a mission to you',
};
const channels = { mail: 'Email', browser: 'Browser', origin: 'Where the mission began' } as const;
type Channel = keyof typeof channels;
type Values = Record<`${MissionNoticeKind} ${Channel}`, boolean>;
type Choices = MissionNoticeChoicesQuery['missionNoticeChoices'];

const valuesOf = (choices: Choices) =>
  Object.fromEntries(
    choices.flatMap((choice) =>
      (Object.keys(channels) as Channel[]).map((channel) => [`${choice.kind} ${channel}`, choice[channel]]),
    ),
  ) as Values;
const labels = Object.fromEntries(
  Object.entries(kinds).flatMap(([kind, words]) =>
    Object.entries(channels).map(([channel, name]) => [`${kind} ${channel}`, `${words}: ${name}`]),
  ),
) as Record<keyof Values, string>;

export function MissionNotices() {
  const { data, problem, read } = useReading(missionNoticeChoices, {});
  return (
    <div>
      <Loaded value={data} problem={problem} retry={read} rows={6} height={44}>
        {(data) => <ChoicesForm choices={data.missionNoticeChoices} />}
      </Loaded>
    </div>
  );
}

function ChoicesForm({ choices }: { choices: Choices }) {
  const [said, say] = useState('');
  const form = useForm({
    name: 'mission-notices',
    initial: valuesOf(choices),
    async current() {
      say('');
      return [valuesOf((await ask(missionNoticeChoices, {})).missionNoticeChoices), null];
    },
    async send(values, key) {
      for (const { kind } of choices) {
        const chosen = (Object.keys(channels) as Channel[]).map((channel) => [channel, values[`${kind} ${channel}`]]);
        const input = { kind, ...(Object.fromEntries(chosen) as Record<Channel, boolean>) };
        await mutate(updateMissionNotices, { input }, `${key} ${kind}`);
      }
      say('Saved.');
    },
  });
  return (
    <>
      <StatusMessage words={said} />
      <Card title="Updates about my missions">
        <p class="muted">
          Your missions are those that you start or follow, those that other people hand to you, and those of schedules
          that you last changed. <i>Where the mission began</i> is the thread of a chat, or the comment on an issue or
          pull request.
        </p>
        <Permission />
        <FormFrame form={form} action="Save" labels={labels}>
          <table class="checks">
            <thead>
              <tr>
                <th scope="col">When a mission changes</th>
                {Object.values(channels).map((label) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {choices.map(({ kind }) => (
                <Row key={kind} kind={kind} form={form} />
              ))}
            </tbody>
          </table>
        </FormFrame>
      </Card>
    </>
  );
}

const Row = ({ kind, form }: { kind: MissionNoticeKind; form: Form<Values> }) => (
  <tr>
    <th scope="row">{kinds[kind]}</th>
    {(Object.keys(channels) as Channel[]).map((channel) => (
      <td key={channel}>
        {/* The channel or issue in which a mission began gets no message about a handover. */}
        {!(kind === 'handover' && channel === 'origin') && (
          <label class="check">
            <input
              type="checkbox"
              aria-label={labels[`${kind} ${channel}`]}
              checked={form.values[`${kind} ${channel}`]}
              onChange={({ currentTarget: { checked } }) =>
                form.set({ [`${kind} ${channel}`]: checked } as Partial<Values>)
              }
            />
          </label>
        )}
      </td>
    ))}
  </tr>
);

/** Browsers ask for this permission only after a click. */
function Permission() {
  const [permission, setPermission] = useState(browserPermission());
  if (permission === 'default') {
    return (
      <p>
        <button type="button" class="quiet slim" onClick={async () => setPermission(await allowBrowserNews())}>
          Allow notifications in this browser
        </button>
      </p>
    );
  }
  return (
    <p class="muted">
      {permission === 'granted'
        ? 'This browser shows notifications while a page of the console is open.'
        : permission === 'denied'
          ? 'This browser blocks notifications of the console. Allow them in its settings of this site.'
          : 'This browser cannot show notifications of the console at this URL.'}
    </p>
  );
}
