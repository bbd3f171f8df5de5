// Amounts of credits are integers in millionths of a credit, which is the precision of mission costs. One credit is one US dollar.

/** One credit, in millionths. */
export const credit = 1_000_000;

/** Amount in millionths of a credit for a cost in US dollars. */
export const amountOf = (usd: number): number => Math.round(usd * credit);

/** Amount in credits, for display: a number with at most six decimals. */
export const creditsOf = (amount: number): number => amount / credit;
