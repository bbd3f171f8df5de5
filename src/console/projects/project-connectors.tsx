// The connectors of a project: its source host, its tracker with the team there, and its language model.
import {
  type IntegrationsQuery,
  integrations,
  type ProjectSettingsQuery,
  projectSettings,
  setProjectConnectors,
  type VendorKind,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { pageAt } from '../kit/page.ts';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { trackers, vendors } from '../kit/vendors.tsx';

type Settings = ProjectSettingsQuery['project'];
type Integration = IntegrationsQuery['integrations']['integrations'][number];

const valuesOf = ({ scmConnectorId, trackerConnectorId, llmConnectorId, trackerTeamId }: Settings) => ({
  scmConnectorId,
  trackerConnectorId: trackerConnectorId ?? '',
  trackerTeamKey: trackerTeamId ?? '',
  llmConnectorId,
});

const labels = {
  scmConnectorId: 'Source host',
  trackerConnectorId: 'Issue tracker',
  trackerTeamKey: 'Team',
  llmConnectorId: 'Models',
};

interface Properties {
  project: Settings;
  read(): void;
}

export function Connectors(properties: Properties) {
  const { data } = useReading(integrations, {});
  return (
    <Card title="Connectors" aside={<a href={pageAt('/integrations')}>Integrations</a>}>
      {data ? <Choices {...properties} known={data.integrations.integrations} /> : <Skeleton rows={3} height={56} />}
    </Card>
  );
}

function Choices({ project, read, known }: Properties & { known: readonly Integration[] }) {
  const { id: projectId } = project;
  const form = useForm({
    name: `connectors of ${projectId}`,
    initial: valuesOf(project),
    current: async () => [valuesOf((await ask(projectSettings, { projectId })).project), null],
    async send({ scmConnectorId, trackerConnectorId, trackerTeamKey, llmConnectorId }, key) {
      const tracker = optional(trackerConnectorId);
      const input = {
        scmConnectorId: scmConnectorId || undefined,
        llmConnectorId: llmConnectorId || undefined,
        trackerTeamKey: optional(trackerTeamKey),
        ...(tracker !== project.trackerConnectorId && { trackerConnectorId: tracker }),
      };
      await mutate(setProjectConnectors, { projectId, input }, key);
      read();
    },
  });
  const optionsOf = (kind: VendorKind, none?: string) => [
    ...(none === undefined ? [] : [['', none] as const]),
    ...known
      .filter(({ vendorKind }) => vendorKind === kind)
      .map(({ id, displayName, vendor }) => [id, `${displayName} (${vendors[vendor]})`] as const),
  ];
  const { scmConnectorId, trackerConnectorId, llmConnectorId } = project;
  return (
    <FormFrame form={form} action="Save connectors" labels={labels}>
      <Choice
        form={form}
        name="scmConnectorId"
        label={labels.scmConnectorId}
        options={optionsOf('scm', scmConnectorId ? undefined : 'None')}
      >
        You can choose another server only while no mission or pull request is open.
      </Choice>
      <Choice
        form={form}
        name="trackerConnectorId"
        label={labels.trackerConnectorId}
        options={optionsOf('tracker', project.tracker === 'builtin' || trackerConnectorId ? trackers.builtin : 'None')}
      />
      {form.values.trackerConnectorId !== '' && (
        <Text form={form} name="trackerTeamKey" label={labels.trackerTeamKey}>
          The key of the team in the tracker.
        </Text>
      )}
      <Choice
        form={form}
        name="llmConnectorId"
        label={labels.llmConnectorId}
        options={optionsOf('llm', llmConnectorId ? undefined : 'None')}
      />
    </FormFrame>
  );
}
