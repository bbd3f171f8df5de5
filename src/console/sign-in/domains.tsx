// The list of domains, each with the TXT record that proves it, its provider, and whether the provider is required.
import {
  createSignInDomain,
  deleteSignInDomain,
  type IdentityProviderPartsFragment,
  type SignInDomainPartsFragment,
  updateSignInDomain,
  verifySignInDomain,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Copy } from '../kit/copy-as.tsx';
import { Check, Choice, FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Action, Card, Empty, Pill } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';

type Domain = SignInDomainPartsFragment;
type Provider = IdentityProviderPartsFragment;

interface Properties {
  domains: readonly Domain[];
  providers: readonly Provider[];
  read(): void;
}

export const Domains = ({ domains, providers, read }: Properties) => (
  <Card title="Domains">
    {domains.length === 0 ? (
      <Empty>
        <p>No domains yet. A domain is the part of email addresses after the @.</p>
      </Empty>
    ) : (
      <ul class="rows">
        {domains.map((domain) => (
          <li key={domain.id}>
            <DomainRow domain={domain} providers={providers} read={read} />
          </li>
        ))}
      </ul>
    )}
  </Card>
);

function DomainRow({ domain, providers, read }: { domain: Domain } & Omit<Properties, 'domains'>) {
  const { id: domainId, domain: name, verifiedAt, missingSince, required } = domain;
  const provider = providers.find(({ id }) => id === domain.providerId);
  return (
    <>
      <div class="row-top">
        <strong class="break">{name}</strong>
        <Pill status={verifiedAt === null ? 'not verified' : missingSince === null ? 'verified' : 'record missing'} />
      </div>
      {verifiedAt !== null && (
        <p class="muted small">
          {provider
            ? `${provider.name}${required ? ', required' : ''}`
            : 'No provider: members sign in with a code or a passkey.'}
        </p>
      )}
      {missingSince !== null && (
        <p class="note">
          The TXT record has been missing since <Time at={missingSince} />. After a week without it, the domain no
          longer counts as verified, and nobody can sign in through its provider.
        </p>
      )}
      {(verifiedAt === null || missingSince !== null) && <TxtRecord domain={domain} />}
      {may('sign-in:write') && (
        <>
          {verifiedAt !== null && providers.length > 0 && (
            <ProviderOfDomain domain={domain} providers={providers} read={read} />
          )}
          <div class="decisions">
            <Action
              label={verifiedAt === null ? 'Check record' : 'Check again'}
              describes={`${verifiedAt === null ? 'Check record' : 'Check again'}: ${name}`}
              act={(key) => mutate(verifySignInDomain, { domainId }, key).then(read)}
            />
            <Action
              label="Delete"
              describes={`Delete ${name}`}
              class="danger slim"
              question={`People with addresses of ${name} can no longer sign in through your identity provider. Members stay members.`}
              act={(key) => mutate(deleteSignInDomain, { domainId }, key).then(read)}
            />
          </div>
        </>
      )}
    </>
  );
}

const TxtRecord = ({ domain: { domain, recordName, recordValue } }: { domain: Domain }) => (
  <>
    <p class="small">Add this TXT record at your DNS provider, then check it.</p>
    <div class="secret">
      <code>{recordName}</code>
      <Copy text={recordName} label="Copy name" describes={`Copy name of the record of ${domain}`} />
    </div>
    <div class="secret">
      <code>{recordValue}</code>
      <Copy text={recordValue} label="Copy value" describes={`Copy value of the record of ${domain}`} />
    </div>
  </>
);

const valuesOf = ({ providerId, required }: Domain) => ({ providerId: providerId ?? '', required });

function ProviderOfDomain({ domain, providers, read }: { domain: Domain } & Omit<Properties, 'domains'>) {
  const form = useForm({
    name: `sign-in domain ${domain.id}`,
    prefix: domain.id,
    initial: valuesOf(domain),
    current: async () => [valuesOf(domain), null],
    async send({ providerId, required }, key) {
      const input = { providerId: providerId === '' ? null : providerId, required: required && providerId !== '' };
      await mutate(updateSignInDomain, { domainId: domain.id, input }, key);
      read();
    },
  });
  return (
    <FormFrame form={form} action="Save" labels={{ providerId: 'Provider', required: 'Required' }}>
      <Choice
        form={form}
        name="providerId"
        label={`Provider of ${domain.domain}`}
        options={[['', 'None'], ...providers.map(({ id, name }) => [id, name] as const)]}
      />
      <Check form={form} name="required" label="Required">
        Members with email addresses of this domain can reach the organization only through the provider. Test it with
        your own address first.
      </Check>
    </FormFrame>
  );
}

export function NewDomain({ read }: { read(): void }) {
  const form = useForm({
    name: 'sign-in domain',
    initial: { domain: '' },
    async send(input, key) {
      await mutate(createSignInDomain, { input }, key);
      read();
    },
  });
  return (
    <Card title="New domain">
      <FormFrame form={form} action="Add domain">
        <Text form={form} name="domain" label="Domain" maxLength={253} required>
          For example, example.com. A TXT record verifies that the domain is yours.
        </Text>
      </FormFrame>
    </Card>
  );
}
