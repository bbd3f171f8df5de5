// How members sign in: domains of the organization, identity providers for email addresses of these domains, and the allowed networks.
import { signInSettings } from '../generated/documents.ts';
import { Heading } from '../kit/heading.tsx';
import { may } from '../kit/page.ts';
import { Loaded } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { AllowedNetworks } from './allowed-networks.tsx';
import { Domains, NewDomain } from './domains.tsx';
import { NewProvider, Providers } from './providers.tsx';

export function SignIn() {
  const { data, problem, read } = usePolledReading(signInSettings, {});
  const domains = data?.signInDomains.domains ?? [];
  const providers = data?.identityProviders.providers ?? [];
  return (
    <>
      <Heading title="Sign-in" />
      <p class="muted about">
        People sign in with an emailed code or a passkey. People with addresses of your domains can also sign in with
        the identity provider of your company.
      </p>
      <Loaded value={data} problem={problem} retry={read} rows={4} height={96}>
        {() => (
          <div class="columns">
            <div class="column">
              <Domains domains={domains} providers={providers} read={read} />
              <Providers providers={providers} domains={domains} read={read} />
            </div>
            <div class="column">
              <AllowedNetworks />
              {may('sign-in:write') && <NewDomain read={read} />}
              {may('sign-in:write') && <NewProvider read={read} />}
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}
