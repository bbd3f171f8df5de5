// Fields for the credentials of a connector: a token, an API key, or the credentials of an app.
import type { ConnectIntegrationMutationVariables, Vendor } from '../generated/documents.ts';
import { Choice, Text } from '../kit/fields.tsx';
import type { Form } from '../kit/form.ts';
import { appsOf, credentialWord } from '../kit/vendors.tsx';

/** The fields have the names of the arguments, so that errors appear next to them. */
export const noAccess = {
  access: 'token',
  credentials: '',
  'githubApp.appId': '',
  'githubApp.installationId': '',
  'githubApp.privateKey': '',
  'linearApp.clientId': '',
  'linearApp.clientSecret': '',
};
type AccessValues = typeof noAccess;
export const accessSecrets = ['credentials', 'githubApp.privateKey', 'linearApp.clientSecret'] as const;

export function accessIn(
  vendor: Vendor,
  values: AccessValues,
): Pick<ConnectIntegrationMutationVariables, 'credentials' | 'githubApp' | 'linearApp'> {
  const none = { credentials: null, githubApp: null, linearApp: null };
  if (vendor === 'builtin') return none;
  if (!appsOf[vendor] || values.access === 'token') return { ...none, credentials: values.credentials };
  if (vendor === 'linear') {
    const clientId = values['linearApp.clientId'].trim();
    return { ...none, linearApp: { clientId, clientSecret: values['linearApp.clientSecret'].trim() } };
  }
  const githubApp = {
    appId: values['githubApp.appId'].trim(),
    installationId: values['githubApp.installationId'].trim(),
    privateKey: values['githubApp.privateKey'],
  };
  return { ...none, githubApp };
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
  const app = appsOf[vendor];
  const isKey = credentialWord(vendor) === 'API key';
  const ways = [
    ['token', isKey ? 'An API key or a token' : 'A token'],
    ['app', app ?? ''],
  ] as const;
  const isApp = app !== undefined && form.values.access === 'app';
  return (
    <>
      {app && <Choice form={form} name="access" label="Access" options={ways} />}
      {isApp ? (
        vendor === 'linear' ? (
          <LinearApp form={form} />
        ) : (
          <GitHubApp form={form} />
        )
      ) : (
        <Text form={form} name="credentials" label={label} type="password" required>
          {`${hint} ${isStored}`.trim()}
        </Text>
      )}
    </>
  );
}

function LinearApp<V extends AccessValues>({ form }: { form: Form<V> }) {
  return (
    <>
      <Text form={form} name="linearApp.clientId" label="Client ID" required>
        Shown in the settings of the application in Linear. Enable client credentials there.
      </Text>
      <Text form={form} name="linearApp.clientSecret" label="Client secret" type="password" required>
        {isStored}
      </Text>
    </>
  );
}

function GitHubApp<V extends AccessValues>({ form }: { form: Form<V> }) {
  return (
    <>
      <Text form={form} name="githubApp.appId" label="App ID" required>
        The App ID or client ID in the settings of the App.
      </Text>
      <Text form={form} name="githubApp.installationId" label="Installation ID" required>
        The number at the end of the URL of the App’s Configure page. Install the App first.
      </Text>
      <Text
        form={form}
        name="githubApp.privateKey"
        label="Private key"
        rows={6}
        isCode
        required
      >{`The content of the .pem file that GitHub generated. ${isStored}`}</Text>
    </>
  );
}
