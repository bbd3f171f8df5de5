// A link to the changes of a record, for people who may read the audit log.
import { may, pageAt } from '../kit/page.ts';

/** A link to the changes of a record. @param of The name of the filter, `targetId` or `projectId` */
export const HistoryLink = ({ of = 'targetId', id }: { of?: 'targetId' | 'projectId'; id: string }) =>
  may('audit:read') ? (
    <a class="button quiet slim" href={pageAt(`/audit?${of}=${encodeURIComponent(id)}`)}>
      History
    </a>
  ) : null;
