// The user that a provider's response names, and the reasons for rejecting a response.

export interface ProviderUser {
  /** The provider's own identifier of the user. */
  subject: string;
  email: string;
  name: unknown;
  /** The domain that the provider states for the account; absent for a provider whose email addresses suffice as proof. */
  hostedDomain?: string | undefined;
}

/** Error for a provider's response that does not sign anybody in. The message is a sentence for the person and the audit log. */
export class ProviderRejection extends Error {
  override name = 'ProviderRejection';
}

export function rejectAnswer(reason: string): never {
  throw new ProviderRejection(reason);
}
