// The form that replaces the credentials of a connector.
import { rotateIntegration, type Vendor } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { appsOf, credentialWord } from '../kit/vendors.tsx';
import { AccessFields, accessIn, accessSecrets, noAccess } from './access.tsx';

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
    initial: noAccess,
    secrets: accessSecrets,
    async send(values, key) {
      await mutate(rotateIntegration, { integrationId: id, ...accessIn(vendor, values) }, key);
      done();
    },
  });
  const isApp = appsOf[vendor] && form.values.access === 'app';
  const word = isApp ? 'credentials' : credentialWord(vendor).replace('API ', '').toLowerCase();
  return (
    <FormFrame form={form} action={`Replace ${word}`}>
      <AccessFields form={form} vendor={vendor} label={`New ${word}`} />
    </FormFrame>
  );
}
