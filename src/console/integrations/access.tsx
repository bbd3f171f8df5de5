// Fields for the credentials of a connector: a token, an API key, or an installation of an App.
import type { ConnectIntegrationMutationVariables, Vendor } from '../generated/documents.ts';
import { Choice, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { hasApps } from '../kit/vendors.tsx';

/** Names of fields are those of the arguments, so that errors appear at them. */
export const noAccess = {
  access: 'token',
  credentials: '',
  'githubApp.appId': '',
  'githubApp.installationId': '',
  'githubApp.privateKey': '',
};
type AccessValues = typeof noAccess;
export const accessSecrets = ['credentials', 'githubApp.privateKey'] as const;

export function accessIn(
  vendor: Vendor,
  values: AccessValues,
): Pick<ConnectIntegrationMutationVariables, 'credentials' | 'githubApp'> {
  if (vendor === 'builtin') return { credentials: null, githubApp: null };
  if (!hasApps(vendor) || values.access === 'token') return { credentials: values.credentials, githubApp: null };
  const githubApp = {
    appId: values['githubApp.appId'].trim(),
    installationId: values['githubApp.installationId'].trim(),
    privateKey: values['githubApp.privateKey'],
  };
  return { credentials: null, githubApp };
}

interface AccessProperties<V extends AccessValues> {
  form: Form<V>;
  vendor: Vendor;
  /** The label of the token or key. */
  label: string;
  /** Permissions that a token or an App needs. */
  hint?: string | undefined;
}

const isStored = 'It is checked, stored encrypted and never shown again.';

export function AccessFields<V extends AccessValues>({ form, vendor, label, hint = '' }: AccessProperties<V>) {
  const ways = [
    ['token', 'A token'],
    ['app', 'A GitHub App'],
  ] as const;
  const isApp = hasApps(vendor) && form.values.access === 'app';
  return (
    <>
      {hasApps(vendor) && <Choice form={form} name="access" label="Access" options={ways} />}
      {isApp ? (
        <>
          <Text
            form={form}
            name="githubApp.appId"
            label="App ID"
            hint="The App ID or client ID in the settings of the App."
            required
          />
          <Text
            form={form}
            name="githubApp.installationId"
            label="Installation ID"
            hint="Install the App, then open Configure: the number at the end of the address."
            required
          />
          <Text
            form={form}
            name="githubApp.privateKey"
            label="Private key"
            hint={`The content of the .pem file that GitHub generated. ${isStored}`}
            rows={6}
            isCode
            required
          />
        </>
      ) : (
        <Text
          form={form}
          name="credentials"
          label={label}
          hint={`${hint} ${isStored}`.trim()}
          type="password"
          required
        />
      )}
    </>
  );
}
