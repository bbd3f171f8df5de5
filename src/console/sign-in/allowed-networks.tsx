// The networks from which the organization accepts credentials, and the form that replaces them.
import { allowedNetworks, setAllowedNetworks } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Card, ErrorNote } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

export function AllowedNetworks() {
  const { data, problem, read } = useReading(allowedNetworks, {});
  if (!data) return problem && <ErrorNote problem={problem} retry={read} />;
  const { networks, address } = data.allowedNetworks;
  return (
    <Card title="Allowed networks">
      <p class="muted">
        {networks.length === 0
          ? 'Members and tokens can reach the organization from any network.'
          : 'Members and tokens can reach the organization only from these networks.'}{' '}
        Your IP address is <strong>{address ?? 'unknown'}</strong>.
      </p>
      {may('sign-in:write') ? (
        <Change key={networks.join()} networks={networks} address={address} read={read} />
      ) : (
        <ul class="rows">
          {networks.map((network) => (
            <li key={network}>
              <code>{network}</code>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const textOf = (networks: readonly string[]): string => networks.join('\n');
const networksIn = (text: string): string[] => text.split(/[\s,]+/).filter((network) => network !== '');

interface Properties {
  networks: readonly string[];
  address: string | null;
  read(): void;
}

function Change({ networks, address, read }: Properties) {
  const form = useForm({
    name: 'allowed networks',
    initial: { networks: textOf(networks) },
    async send({ networks: text }, key) {
      await mutate(setAllowedNetworks, { input: { networks: networksIn(text) } }, key);
      read();
    },
  });
  const { networks: text } = form.values;
  return (
    <FormFrame form={form} action="Save networks">
      <Text form={form} name="networks" label="Networks" rows={4} maxLength={4_000}>
        One per line, such as 203.0.113.0/24 or 2001:db8:1::/48. Requests from elsewhere are refused, including those of
        runtimes and of your identity provider. Leave this field empty to allow requests from any network.
      </Text>
      {address !== null && text === '' && (
        <button type="button" class="quiet slim" onClick={() => form.set({ networks: address })}>
          Insert your address
        </button>
      )}
    </FormFrame>
  );
}
