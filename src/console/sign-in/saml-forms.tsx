// The forms to connect a SAML provider by its metadata, and to change it.
import {
  createSamlProvider,
  type IdentityProviderPartsFragment,
  type OrgRole,
  replaceSamlMetadata,
  updateIdentityProvider,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { roles } from './roles.ts';

const noValues = { name: '', metadataUrl: '', metadataXml: '', defaultRole: '' as OrgRole | '' };
type Values = typeof noValues;

const Fields = ({ form, isNew }: { form: Form<Values>; isNew: boolean }) => (
  <>
    <Text form={form} name="name" label="Name" maxLength={120} required>
      Shown on the sign-in page, for example Okta.
    </Text>
    <Text form={form} name="metadataUrl" label="Metadata URL" maxLength={2000}>
      {isNew
        ? 'The https URL of the provider’s metadata. It is read every day, so that new keys are accepted.'
        : 'Leave both fields empty to keep the metadata.'}
    </Text>
    <Text form={form} name="metadataXml" label="Or metadata as XML" rows={6} maxLength={200_000} isCode />
    <Choice form={form} name="defaultRole" label="New people" options={roles}>
      What happens at the first sign-in of somebody who is not a member.
    </Choice>
  </>
);

const metadataOf = ({ metadataUrl, metadataXml }: Values) => ({
  metadataUrl: optional(metadataUrl),
  metadataXml: optional(metadataXml),
});
const roleOf = ({ defaultRole }: Values) => (defaultRole === '' ? null : defaultRole);

export function NewSaml({ read }: { read(): void }) {
  const form = useForm({
    name: 'saml provider',
    initial: noValues,
    async send(values, key) {
      const input = { name: values.name, defaultRole: roleOf(values), ...metadataOf(values) };
      await mutate(createSamlProvider, { input }, key);
      read();
    },
  });
  return (
    <FormFrame form={form} action="Connect provider">
      <Fields form={form} isNew />
    </FormFrame>
  );
}

const valuesOf = ({ name, defaultRole }: IdentityProviderPartsFragment): Values => ({
  ...{ name, metadataUrl: '', metadataXml: '' },
  defaultRole: defaultRole ?? '',
});

export function ChangeSaml({ provider, done }: { provider: IdentityProviderPartsFragment; done(): void }) {
  const { id } = provider;
  const form = useForm({
    name: `saml provider ${id}`,
    prefix: id,
    initial: valuesOf(provider),
    current: async () => [valuesOf(provider), null],
    async send(values, key) {
      const input = { name: values.name, defaultRole: roleOf(values) };
      await mutate(updateIdentityProvider, { providerId: id, input }, key);
      const metadata = metadataOf(values);
      if (metadata.metadataUrl !== null || metadata.metadataXml !== null)
        await mutate(replaceSamlMetadata, { samlProviderId: id, input: metadata }, `${key}-metadata`);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save" close={done} labels={{ name: 'Name', defaultRole: 'New people' }}>
      <Fields form={form} isNew={false} />
    </FormFrame>
  );
}
