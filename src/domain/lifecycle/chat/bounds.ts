// Limits of chat.

/** Maximum number of an organization's channels that are bound to projects. */
export const maxChannels = 500;

/** Limits of texts, in characters. */
export const chatText = {
  botToken: { min: 10, max: 500 },
  signingSecret: { min: 16, max: 200 },
} as const;
