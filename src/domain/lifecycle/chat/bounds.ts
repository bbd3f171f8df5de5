// The bounds of chat.

/** Maximum channels of an organization that are bound to projects. */
export const maxChannels = 500;

/** Bounds of texts, in characters. */
export const chatText = {
  botToken: { min: 10, max: 500 },
  signingSecret: { min: 16, max: 200 },
} as const;
