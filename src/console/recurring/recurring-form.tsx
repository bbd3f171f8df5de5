// The form of a scheduled task or an automation, with the next times of its schedules and its rules for events.

import { PolicyFields } from '../effects/policy-field.tsx';
import { projects } from '../generated/documents.ts';
import { FieldError } from '../kit/field-error.tsx';
import { Check, Choice, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { now } from '../kit/page.ts';
import { useReading } from '../kit/reading.ts';
import { TaskFields, useAgents } from '../missions/mission-task.tsx';
import { EventRules } from './event-rules.tsx';
import { nextTimes, type Schedule, weekdays } from './next-times.ts';
import { ownZone, type RecurringValues } from './recurring-values.ts';

export function RecurringFields({ form }: { form: Form<RecurringValues> }) {
  const { data: known } = useReading(projects, { limit: 100 });
  const agents = useAgents();
  return (
    <>
      <Choice
        form={form}
        name="projectId"
        label="Project"
        options={(known?.projects.data ?? []).map(({ id, name }) => [id, name] as const)}
      />
      <Text form={form} name="name" label="Name" maxLength={120} required />
      <TaskFields form={form} agents={agents} />
      <Times form={form} />
      <EventRules form={form} />
      <Text form={form} name="labels" label="Labels">
        Added to each issue, separated by commas. Optional.
      </Text>
      <Check form={form} name="skipIfPreviousOpen" label="Skip while a mission is open">
        An occurrence is skipped while an earlier mission has not ended.
      </Check>
      <details class="more" open={form.values.waits.length > 0}>
        <summary>Outside effects that need approval</summary>
        <PolicyFields form={form} />
      </details>
    </>
  );
}

function Times({ form }: { form: Form<RecurringValues> }) {
  const { triggers, eventTriggers } = form.values;
  const change = (index: number, to: Partial<Schedule>) =>
    form.set({ triggers: triggers.map((one, i) => (i === index ? { ...one, ...to } : one)) });
  const error = form.errorOf('triggers');
  return (
    <fieldset class="times">
      <legend>Times</legend>
      {triggers.map((one, i) => (
        <ScheduleFields
          key={i}
          id={`time-${i}`}
          schedule={one}
          change={(to) => change(i, to)}
          remove={
            triggers.length + eventTriggers.length > 1
              ? () => form.set({ triggers: triggers.filter((_, at) => at !== i) })
              : undefined
          }
        />
      ))}
      <FieldError text={error} />
      {triggers.length < 10 && (
        <button
          type="button"
          class="quiet slim"
          onClick={() => form.set({ triggers: [...triggers, { interval: 'daily', time: '09:00', timezone: ownZone }] })}
        >
          Add a time
        </button>
      )}
      {triggers.length > 0 && <Preview schedules={triggers} />}
      <datalist id="zones">
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </fieldset>
  );
}

interface ScheduleProperties {
  id: string;
  schedule: Schedule;
  change(to: Partial<Schedule>): void;
  remove: (() => void) | undefined;
}

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

function ScheduleFields({ id, schedule, change, remove }: ScheduleProperties) {
  const { interval, weekday, dayOfMonth, time, timezone } = schedule;
  return (
    <div class="schedule">
      <label>
        Repeats
        <select
          value={interval}
          onChange={({ currentTarget: { value } }) => {
            const more =
              value === 'weekly' ? { weekday: weekday ?? 'monday' } : value === 'monthly' && { dayOfMonth: 1 };
            change({ interval: value as Schedule['interval'], ...more });
          }}
        >
          <option value="daily">Daily</option>
          <option value="weekly">Weekly</option>
          <option value="monthly">Monthly</option>
        </select>
      </label>
      {interval === 'weekly' && (
        <label>
          Day
          <select
            value={weekday ?? 'monday'}
            onChange={({ currentTarget }) => change({ weekday: currentTarget.value })}
          >
            {weekdays.map((one) => (
              <option key={one} value={one}>
                {capital(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {interval === 'monthly' && (
        <label>
          Day of the month
          <input
            type="number"
            min={1}
            max={31}
            value={dayOfMonth ?? 1}
            onInput={({ currentTarget }) => change({ dayOfMonth: Number(currentTarget.value) })}
          />
        </label>
      )}
      <label>
        Time
        <input type="time" value={time} onInput={({ currentTarget }) => change({ time: currentTarget.value })} />
      </label>
      <label class="grow">
        Time zone
        <input
          id={id}
          list="zones"
          autocomplete="off"
          value={timezone}
          onInput={({ currentTarget }) => change({ timezone: currentTarget.value })}
        />
      </label>
      {remove && (
        <button type="button" class="quiet slim" onClick={remove}>
          Remove
        </button>
      )}
    </div>
  );
}

const previewCount = 5;

function Preview({ schedules }: { schedules: Schedule[] }) {
  const times = nextTimes(schedules, now(), previewCount);
  return (
    <section class="preview-times" aria-label="Next times" aria-live="polite">
      <h3>Next times</h3>
      {times.length === 0 ? (
        <p class="muted small">No upcoming times.</p>
      ) : (
        <TimesIn times={times} schedules={schedules} />
      )}
    </section>
  );
}

/** Times in the zone of the first schedule. */
export function TimesIn({ times, schedules }: { times: readonly number[]; schedules: readonly Schedule[] }) {
  const timeZone = schedules[0]?.timezone;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(timeZone && zoneIsKnown(timeZone) && { timeZone }),
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    timeZoneName: 'short',
  });
  return (
    <ol class="small">
      {times.map((at) => (
        <li key={at}>
          <time dateTime={new Date(at).toISOString()}>{format.format(at)}</time>
        </li>
      ))}
    </ol>
  );
}

function zoneIsKnown(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en-GB', { timeZone }));
  } catch {
    return false;
  }
}
