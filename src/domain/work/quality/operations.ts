// The comparison of two versions of an agent.
import type { Caller } from '#access/principal.ts';
import { findAgent } from '../../projects/agents/operations.ts';
import { type QualityFigures, qualityFigures } from '../runs/figures.ts';

export interface VersionComparison {
  first: QualityFigures | null;
  second: QualityFigures | null;
}

/** Figures of two versions; null for a version without missions. @throws 404 */
export async function compareVersions(
  caller: Caller,
  { agentId, first, second, days }: { agentId: string; first: number; second: number; days: number },
): Promise<VersionComparison> {
  await findAgent(caller, agentId);
  const found = await qualityFigures(caller, { groupBy: 'version', agentId, versions: [first, second], days });
  const figuresOf = (number: number) => found.find(({ agentVersion }) => agentVersion === number) ?? null;
  return { first: figuresOf(first), second: figuresOf(second) };
}
