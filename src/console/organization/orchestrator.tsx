// The setting that determines how the agents of a mission are chosen: a language model chooses them, or only their roles count.
import {
  modelConnectors,
  type OrganizationSettingsQuery,
  orchestratorCredentials,
  updateOrchestrator,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Check, Choice, FormFrame, optional } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may, pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

type Orchestrator = OrganizationSettingsQuery['orchestrator'];

const valuesOf = ({ inferenceEnabled, model, llmConnectorId }: Orchestrator) => ({
  inferenceEnabled,
  model,
  llmConnectorId: llmConnectorId ?? '',
});

const labels = { inferenceEnabled: 'Let a model choose', model: 'Model', llmConnectorId: 'Model connector' };

interface Properties {
  orchestrator: Orchestrator;
  readNow(): Promise<Orchestrator>;
  read(): void;
}

export function AgentChoiceCard({ orchestrator, readNow, read }: Properties) {
  const { inferenceEnabled, llmConnectorId, modelsByVendor } = orchestrator;
  const { data } = useReading(modelConnectors, {});
  const form = useForm({
    name: 'choice of agents',
    initial: valuesOf(orchestrator),
    current: async () => [valuesOf(await readNow()), null],
    async send({ llmConnectorId: connector, ...values }, key) {
      await mutate(updateOrchestrator, { input: { ...values, llmConnectorId: optional(connector) } }, key);
      read();
    },
  });
  const connectors = data?.integrations.integrations.filter(({ vendorKind }) => vendorKind === 'llm') ?? [];
  const models = [...modelsByVendor.anthropic, ...modelsByVendor.openai];
  return (
    <Card title="Choice of agents">
      <p class="muted">
        If the organization has at least two agents, a model is asked once per mission which agents suit the task.
        Without an answer, agents are chosen by role.
      </p>
      {inferenceEnabled && llmConnectorId !== null && <Credentials key={`${llmConnectorId} ${orchestrator.model}`} />}
      {may('orchestrator:write') ? (
        <FormFrame form={form} action="Save" labels={labels}>
          <Check form={form} name="inferenceEnabled" label={labels.inferenceEnabled} />
          <Choice
            form={form}
            name="llmConnectorId"
            label={labels.llmConnectorId}
            options={[
              ['', 'None: agents are chosen by role'],
              ...connectors.map(({ id, displayName }) => [id, displayName] as const),
            ]}
          >
            The model call is billed to the connector’s credentials.{' '}
            {may('integrations:write') && <a href={pageAt('/integrations')}>Connect a model</a>}
          </Choice>
          <Choice
            form={form}
            name="model"
            label={labels.model}
            options={models.map(({ id, label }) => [id, label] as const)}
          />
        </FormFrame>
      ) : (
        <p>
          {inferenceEnabled && llmConnectorId !== null
            ? `${orchestrator.model} chooses the agents.`
            : 'Agents are chosen by role.'}
        </p>
      )}
    </Card>
  );
}

/** Whether the vendor of the model accepts the credentials of the connector. */
function Credentials() {
  const { data } = useReading(orchestratorCredentials, {}, { alone: true });
  if (data?.orchestrator.assignedCredentialUsableForInference !== false) return null;
  return (
    <p class="note error" role="status">
      The connector cannot call this model: it is for another vendor, or the vendor rejects its credentials. Until this
      is corrected, agents are chosen by role.
    </p>
  );
}
