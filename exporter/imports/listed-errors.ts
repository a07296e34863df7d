import type { ResultFile } from '../../core/run/result.ts';
import { pythonError } from './python-error.ts';
import type { ListedRequest } from './request-lists.ts';

/** How many requests failed for which reason. */
export function listedErrors(requests: readonly ListedRequest[]): ResultFile['errors'] {
  const errors: Partial<Record<keyof ResultFile['errors'], number>> = {};
  for (const { error } of requests) {
    if (error === null) continue;
    const { reason } = pythonError(error);
    errors[reason] = (errors[reason] ?? 0) + 1;
  }
  return errors;
}
