// The form that replaces the credentials of a connector.
import { rotateIntegration, type Vendor } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';

/** The vendor's word for its credentials. */
export const credentialWord = (vendor: Vendor): string => (vendor === 'github' ? 'Token' : 'API key');

export function Rotation({
  connector: { id, vendor },
  done,
}: {
  connector: { id: string; vendor: Vendor };
  done(): void;
}) {
  const form = useForm({
    name: `credentials of ${id}`,
    prefix: `${id}-`,
    initial: { credentials: '' },
    secret: 'credentials',
    async send({ credentials }, key) {
      await mutate(rotateIntegration, { integrationId: id, credentials }, key);
      done();
    },
  });
  const word = credentialWord(vendor);
  return (
    <FormFrame form={form} action={`Replace ${word === 'Token' ? 'token' : 'key'}`}>
      <Text
        form={form}
        name="credentials"
        label={`New ${word === 'Token' ? 'token' : 'key'}`}
        type="password"
        required
      />
    </FormFrame>
  );
}
