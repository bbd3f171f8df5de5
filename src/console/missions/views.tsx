// Saved views of missions: a person opens one by its name, or saves the current filters as a new one.
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import {
  createMissionView,
  deleteMissionView,
  type MissionViewLayout,
  type MissionViewsQuery,
  missionViews,
  type RunGrouping,
  updateMissionView,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { pageAt } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';
import { useFilter, useReading } from '../kit/reading.ts';
import { type Filters, queryOf } from './run-filters.tsx';

type View = MissionViewsQuery['missionViews']['views'][number];

export interface Shown {
  filters: Filters;
  layout: MissionViewLayout;
  groupBy: RunGrouping | null;
}

const addressOf = ({ id, layout, groupBy, filters }: View): string => {
  const query = queryOf(filters, null);
  if (layout === 'board') query.set('layout', layout);
  if (groupBy) query.set('groupBy', groupBy);
  query.set('view', id);
  return pageAt(`/runs?${query}`);
};

/** The filters that a view keeps: all but the period, which would soon be past. */
const kept = ({ createdFrom: _, createdBefore: __, ...filters }: Filters) => filters;

export function Views({ shown }: { shown: Shown }) {
  const { data, read } = useReading(missionViews, {});
  const [open] = useFilter('view');
  const { route } = useLocation();
  const [isSaving, setSaving] = useState(false);
  const views = data?.missionViews.views ?? [];
  const present = views.find(({ id }) => id === open);
  const input = (name: string) => ({
    name,
    layout: shown.layout,
    groupBy: shown.groupBy,
    filters: kept(shown.filters),
  });
  return (
    <div class="views">
      <nav aria-label="Views">
        <a class={present ? 'quiet slim' : 'quiet slim current'} href={pageAt('/runs')}>
          All missions
        </a>
        {views.map((view) => (
          <a
            key={view.id}
            class={view === present ? 'quiet slim current' : 'quiet slim'}
            aria-current={view === present ? 'true' : undefined}
            href={addressOf(view)}
          >
            <bdi>{view.name}</bdi>
          </a>
        ))}
      </nav>
      {present && (
        <>
          <Action
            label="Update view"
            act={(key) => mutate(updateMissionView, { viewId: present.id, input: input(present.name) }, key).then(read)}
          />
          <Action
            label="Delete view"
            class="danger slim"
            question={`The view ${present.name} is deleted. Its missions stay.`}
            act={async (key) => {
              await mutate(deleteMissionView, { viewId: present.id }, key);
              read();
              route(pageAt('/runs'));
            }}
          />
        </>
      )}
      <button type="button" class="quiet slim" aria-expanded={isSaving} onClick={() => setSaving(!isSaving)}>
        Save view
      </button>
      {isSaving && (
        <NewView
          save={async (name, key) => {
            const { createMissionView: created } = await mutate(createMissionView, { input: input(name) }, key);
            setSaving(false);
            read();
            const query = new URLSearchParams(location.search);
            query.set('view', created.id);
            route(pageAt(`/runs?${query}`));
          }}
        />
      )}
    </div>
  );
}

function NewView({ save }: { save(name: string, key: string): Promise<void> }) {
  const form = useForm({
    name: 'view',
    prefix: 'view-',
    initial: { name: '' },
    send: ({ name }, key) => save(name, key),
  });
  return (
    <FormFrame form={form} action="Save">
      <Text form={form} name="name" label="Name of the view" maxLength={80} required />
    </FormFrame>
  );
}
