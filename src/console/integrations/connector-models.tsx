// The models of a connector. Everybody sees them as a list. A form edits them in a text field with one model per line.
import { type IntegrationsQuery, setIntegrationModels } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';

type Connector = Pick<IntegrationsQuery['integrations']['integrations'][number], 'id' | 'models'>;
type Model = Connector['models'][number];

/** A model as a line: `id | name | input | output | cache read | cache write`; the last two may be left out. */
const lineOf = ({ id, name, prices }: Model): string => {
  const { input, output, cacheRead, cacheWrite } = prices;
  const cache = cacheRead === null && cacheWrite === null ? [] : [cacheRead ?? '', cacheWrite ?? ''];
  return [id, name, input, output, ...cache].join(' | ');
};

/** A missing price becomes NaN, so that the server's error names the field. */
const price = (text = ''): number => (text === '' ? Number.NaN : Number(text));
const optionalPrice = (text = ''): number | null => (text === '' ? null : Number(text));

function modelIn(line: string) {
  const [id = '', name = '', input, output, cacheRead, cacheWrite] = line.split('|').map((part) => part.trim());
  const cache = { cacheRead: optionalPrice(cacheRead), cacheWrite: optionalPrice(cacheWrite) };
  return { id, name: name || id, prices: { input: price(input), output: price(output), ...cache } };
}

/** The models in a text with one model per line. */
export const modelsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(modelIn);

export const modelsHint =
  'One per line: id | name | input | output | cache read | cache write. Prices are in US dollars per million tokens; cache prices are optional.';

export function ConnectorModels({ connector: { id, models }, done }: { connector: Connector; done(): void }) {
  const form = useForm({
    name: `models of ${id}`,
    prefix: `${id}-models-`,
    initial: { models: models.map(lineOf).join('\n') },
    async send({ models }, key) {
      await mutate(setIntegrationModels, { integrationId: id, input: { models: modelsIn(models) } }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save models">
      <Text form={form} name="models" label="Models" rows={Math.max(4, models.length + 1)} isCode>
        {modelsHint}
      </Text>
    </FormFrame>
  );
}

export const NamedModels = ({ connector: { models } }: { connector: Connector }) =>
  models.length > 0 ? (
    <div class="small muted break">
      Models: {models.map(({ name, prices }) => `${name} (${prices.input} / ${prices.output} USD)`).join(', ')}
    </div>
  ) : null;
