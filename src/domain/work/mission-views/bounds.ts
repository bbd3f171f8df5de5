// Limits for saved views.

/** Maximum number of views of a person in an organization. */
export const maxViews = 50;
export const viewText = { name: { min: 1, max: 80 }, filter: { min: 1, max: 200 } } as const;
