// The levels of isolation, for agents and for scripts alike.
import type { Containers } from './engine.ts';

/**
 * Level of isolation. In a cell, bubblewrap isolates the mission, and in a container an engine. `unshare` is only for scripts, without any
 * network.
 */
export type Level = 'cell' | 'container' | 'unshare' | 'none';

export interface Isolation {
  level: Level;
  /** Describes what a mission can reach, for the log and for each sandbox. */
  description: string;
  /** The containers, only at the level `container`. */
  containers?: Containers;
}

/** Whether a network policy is enforced. */
export const hasEgress = (level: Level): boolean => level === 'cell' || level === 'container';
