// Names of models as pages show them. Imports nothing, because both the server and the browser load it.

/** The model of an agent, a step or an attempt; null for a script, whose model in the catalog is `none`. */
export const shownModel = (model: string | null): string | null => (model === 'none' ? null : model);
