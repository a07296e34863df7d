import { ExpectedError } from './expected-error.ts';

/** What went wrong with object storage, for those who act on it. */
export type StorageProblem = 'refused' | 'missing' | 'unreachable' | 'unsupported' | 'damaged' | 'other';

/** An operation on object storage has failed. The message is one line for people. */
export class StorageError extends ExpectedError {
  override readonly name = 'StorageError';
  readonly problem: StorageProblem;

  constructor(problem: StorageProblem, message: string, options?: ErrorOptions) {
    super('storage', message, options);
    this.problem = problem;
  }
}
