// Words of preparations in the graph.
import { wordSet } from '#graph/scalars.ts';
import { preparationStatuses } from './model.ts';

export const PreparationStatus = wordSet(
  'PreparationStatus',
  preparationStatuses,
  'How far the preparation of an environment is.',
  {
    preparing: 'The setup runs.',
    ready: 'Agents work in it.',
    failed: 'The setup failed, or took too long: its last lines say why.',
  },
);
