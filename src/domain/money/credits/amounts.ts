// Amounts of credits are kept in millionths, which is the precision of mission costs: one credit is one US dollar. Pure.

/** One credit. */
export const credit = 1_000_000;

/** The cost in US dollars, in millionths. Costs are recorded to a millionth of a dollar. */
export const amountOf = (usd: number): number => Math.round(usd * credit);

/** In credits, for people: a number with at most six decimals. */
export const creditsOf = (amount: number): number => amount / credit;
