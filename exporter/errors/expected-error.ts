import type { ResultFile } from '../../core/run/result.ts';

/** What kind of failure it is, for those who act on it: exit statuses follow from it. */
export type ErrorCode =
  /** Nothing was begun: an option, a configuration or a load that cannot be used. */
  | 'refused'
  | 'configuration'
  | 'runs_directory'
  /** The machines of a run did not agree on a start: nothing was measured. */
  | 'no_start'
  /** It was begun, or is valid, and cannot be done. */
  | 'failed'
  | 'server'
  | 'storage'
  | 'damaged'
  | 'not_stored'
  | 'interrupted';

/** A failure that its message explains fully, in one line for people: what, where, what to do. */
export class ExpectedError extends Error {
  override readonly name: string = 'ExpectedError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a failure is expected, and of one of these kinds. */
export const hasCode = (error: unknown, ...codes: readonly ErrorCode[]): error is ExpectedError =>
  error instanceof ExpectedError && codes.includes(error.code);

/** An invalid configuration: one line with the file or option, its value and the allowed values. */
export class ConfigurationError extends ExpectedError {
  override readonly name = 'ConfigurationError';

  constructor(message: string, options?: ErrorOptions) {
    super('configuration', message, options);
  }
}

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

/** The runs directory is not usable, detected before a run starts. The message is one line for people. */
export class RunsDirectoryError extends ExpectedError {
  override readonly name: string = 'RunsDirectoryError';

  constructor(message: string, options?: ErrorOptions) {
    super('runs_directory', message, options);
  }
}

/** A run of that name exists. */
export class RunExistsError extends RunsDirectoryError {
  override readonly name: string = 'RunExistsError';

  constructor(runId: string, runsDirectory: string) {
    super(`run ${runId} exists in ${runsDirectory}; choose another --run-id`);
  }
}

/** A file of a run is invalid. The message names the file and the problem, never its content. */
export class DamagedRunError extends ExpectedError {
  override readonly name = 'DamagedRunError';

  constructor(path: string, reason: string) {
    super('damaged', `${path} is damaged: ${reason}`);
  }
}

/** A file of a run was written by a later version of this program. */
export class SchemaVersionError extends ExpectedError {
  override readonly name = 'SchemaVersionError';

  constructor(path: string, version: number, known: number) {
    super('damaged', `${path} has schema version ${version}; this version reads ${known}: use a newer llmbench`);
  }
}

/** The run was measured but could not be stored (such as on a full disk). `result` has its result. */
export class RunNotStoredError extends ExpectedError {
  override readonly name = 'RunNotStoredError';
  readonly result: ResultFile;

  constructor(path: string, cause: unknown, result: ResultFile) {
    super('not_stored', `the run could not be stored in ${path}: ${reasonOf(cause)}`, { cause });
    this.result = result;
  }
}

/** The reason of a failure of a system call or library, in words. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const meaning = code !== null && Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  if (meaning !== undefined) return `${meaning} (${code})`;
  return messageOf(error);
}

/** The code of a failed system call, such as ENOENT; null for other errors. */
export function codeOf(error: unknown): string | null {
  const isObject = typeof error === 'object' && error !== null && !(error instanceof ExpectedError);
  return isObject && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Whether a system call failed because there is no space left. */
export const isDiskFull = (code: string | null): boolean => code === 'ENOSPC' || code === 'EDQUOT';

function messageOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'message' in error ? String(error.message) : String(error);
}

const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'it already exists',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file may not become larger',
  EIO: 'the disk failed',
  ELOOP: 'it is a symbolic link, which is not followed',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a directory',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
};
