// The list of identity providers, each with its redirect URL and a test, and the forms to connect and to change a provider.
import { useState } from 'preact/hooks';
import {
  createIdentityProvider,
  deleteIdentityProvider,
  type IdentityProviderPartsFragment,
  type OrgRole,
  type SignInDomainPartsFragment,
  updateIdentityProvider,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Copy } from '../kit/copy-as.tsx';
import { Choice, FormFrame, Text } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Action, Card, Empty, Pill } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';
import { roles } from './roles.ts';
import { ChangeSaml, NewSaml } from './saml-forms.tsx';

type Provider = IdentityProviderPartsFragment;

interface Properties {
  providers: readonly Provider[];
  domains: readonly SignInDomainPartsFragment[];
  read(): void;
}

export const Providers = ({ providers, domains, read }: Properties) => (
  <Card title="Identity providers">
    {providers.length === 0 ? (
      <Empty>
        <p>
          No identity providers yet. With a provider such as Okta or Entra ID, people sign in with their company
          account.
        </p>
      </Empty>
    ) : (
      <ul class="rows">
        {providers.map((provider) => (
          <li key={provider.id}>
            <ProviderRow provider={provider} domains={domains} read={read} />
          </li>
        ))}
      </ul>
    )}
  </Card>
);

function ProviderRow({ provider, domains, read }: { provider: Provider } & Omit<Properties, 'providers'>) {
  const {
    id: providerId,
    name,
    protocol,
    issuer,
    clientId,
    returnAddress,
    entityId,
    metadataReadAt,
    metadataFailingSince,
    defaultRole,
    testedAt,
  } = provider;
  const [isOpen, setOpen] = useState(false);
  const done = () => {
    setOpen(false);
    read();
  };
  const served = domains.filter((domain) => domain.providerId === providerId && domain.verifiedAt !== null);
  return (
    <>
      <div class="row-top">
        <strong class="break">{name}</strong>
        <Pill status={testedAt === null ? 'not tested' : 'active'} />
      </div>
      <dl class="facts">
        <dt>{protocol === 'saml' ? 'Provider' : 'Issuer'}</dt>
        <dd class="break">{issuer}</dd>
        {clientId !== '' && (
          <>
            <dt>Client ID</dt>
            <dd class="break">{clientId}</dd>
          </>
        )}
        <dt>{protocol === 'saml' ? 'Reply address' : 'Redirect address'}</dt>
        <dd class="break">
          {returnAddress} <Copy text={returnAddress} label="Copy" describes={`Copy the address for ${name}`} />
        </dd>
        {entityId !== null && (
          <>
            <dt>Entity ID</dt>
            <dd class="break">
              {entityId} <Copy text={entityId} label="Copy" describes={`Copy the entity id for ${name}`} />
            </dd>
            <dt>Metadata</dt>
            <dd>
              Read <Time at={metadataReadAt!} />
              {metadataFailingSince !== null && (
                <>
                  , unusable since <Time at={metadataFailingSince} />
                </>
              )}
            </dd>
          </>
        )}
        <dt>New people</dt>
        <dd>{defaultRole === null ? 'Only with an invite' : `Become ${defaultRole}s`}</dd>
        <dt>Domains</dt>
        <dd>{served.map(({ domain }) => domain).join(', ') || 'None yet: choose the provider of a domain'}</dd>
      </dl>
      {testedAt === null && (
        <p class="note">
          Not offered for sign-in yet. Enter the address above at the provider, then test the sign-in with an email
          address of one of your domains.
        </p>
      )}
      {may('sign-in:write') && (
        <div class="decisions">
          <a class="button quiet slim" href={`/sign-in/sso/${providerId}?test`} aria-label={`Test ${name}`}>
            Test
          </a>
          <button type="button" class="quiet slim" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Change
          </button>
          <Action
            label="Delete"
            describes={`Delete ${name}`}
            class="danger slim"
            question="Nobody can sign in through this provider after that. Its open sessions end within a day."
            act={(key) => mutate(deleteIdentityProvider, { providerId }, key).then(read)}
          />
        </div>
      )}
      {isOpen &&
        (protocol === 'saml' ? (
          <ChangeSaml provider={provider} done={done} />
        ) : (
          <ChangeProvider provider={provider} done={done} />
        ))}
    </>
  );
}

const noValues = { name: '', issuer: '', clientId: '', clientSecret: '', defaultRole: '' as OrgRole | '' };
type Values = typeof noValues;

const labels = { name: 'Name', issuer: 'Issuer', clientId: 'Client ID', defaultRole: 'New people' };

const Fields = ({ form, isNew }: { form: Form<Values>; isNew: boolean }) => (
  <>
    <Text form={form} name="name" label="Name" maxLength={120} required>
      The name on the sign-in page, such as Okta.
    </Text>
    <Text form={form} name="issuer" label="Issuer" maxLength={2000} required>
      The URL of the OpenID provider, without /.well-known/openid-configuration.
    </Text>
    <Text form={form} name="clientId" label="Client ID" maxLength={500} required />
    <Text form={form} name="clientSecret" label="Client secret" type="password" maxLength={2000} required={isNew}>
      {isNew ? undefined : 'Leave this field empty to keep the current one.'}
    </Text>
    <Choice form={form} name="defaultRole" label="New people" options={roles}>
      What happens at the first sign-in of somebody who is not a member.
    </Choice>
  </>
);

const inputOf = ({ defaultRole, ...values }: Values) => ({
  ...values,
  defaultRole: defaultRole === '' ? null : defaultRole,
});

export function NewProvider({ read }: { read(): void }) {
  const [protocol, setProtocol] = useState<'oidc' | 'saml'>('oidc');
  return (
    <Card title="New identity provider">
      <div class="field">
        <label for="protocol">Protocol</label>
        <select
          id="protocol"
          value={protocol}
          onChange={({ currentTarget }) => setProtocol(currentTarget.value as typeof protocol)}
        >
          <option value="oidc">OpenID Connect</option>
          <option value="saml">SAML 2.0</option>
        </select>
      </div>
      {protocol === 'saml' ? <NewSaml read={read} /> : <NewOidc read={read} />}
    </Card>
  );
}

function NewOidc({ read }: { read(): void }) {
  const form = useForm({
    name: 'identity provider',
    initial: noValues,
    secrets: ['clientSecret'],
    async send(values, key) {
      await mutate(createIdentityProvider, { input: inputOf(values) }, key);
      read();
    },
  });
  return (
    <FormFrame form={form} action="Connect provider">
      <Fields form={form} isNew />
    </FormFrame>
  );
}

const valuesOf = ({ name, issuer, clientId, defaultRole }: Provider): Values => ({
  ...{ name, issuer, clientId, clientSecret: '' },
  defaultRole: defaultRole ?? '',
});

function ChangeProvider({ provider, done }: { provider: Provider; done(): void }) {
  const form = useForm({
    name: `identity provider ${provider.id}`,
    prefix: provider.id,
    initial: valuesOf(provider),
    secrets: ['clientSecret'],
    current: async () => [valuesOf(provider), null],
    async send(values, key) {
      const { clientSecret, ...input } = inputOf(values);
      const secret = clientSecret === '' ? {} : { clientSecret };
      await mutate(updateIdentityProvider, { providerId: provider.id, input: { ...input, ...secret } }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save" close={done} labels={labels}>
      <Fields form={form} isNew={false} />
    </FormFrame>
  );
}
