// The secret of the file of a move, which both cells derive from the secret that they share.
import { cellSecretFor } from '#foundation/http/cells.ts';

export const fileSecret = (moveId: string): string => cellSecretFor(`move ${moveId}`).toString('base64');
