import { closeSync, openSync, readSync } from 'node:fs';
import { CliError } from '../failure.ts';

export interface ScheduleOptions {
  readonly 'fixed-schedule': boolean;
  readonly 'no-fixed-schedule': boolean;
  readonly 'request-rate': readonly number[] | null;
  readonly 'input-file': string | null;
  readonly 'custom-dataset-type': string;
}

/** Enough for the first line: hash ids of a long prompt are a few kilobytes. */
const FIRST_BYTES = 1 << 20;

/**
 * Whether the requests come at the times of their input: when requested, and when the input is a trace whose first
 * request has a time, as in AIPerf. Throws a `CliError` when another option contradicts it.
 */
export function followsSchedule(options: ScheduleOptions): boolean {
  if (options['fixed-schedule'] && options['no-fixed-schedule'])
    throw new CliError('--fixed-schedule and --no-fixed-schedule cannot be used together');
  if (options['fixed-schedule'] || options['no-fixed-schedule']) return options['fixed-schedule'];
  const path = options['input-file'];
  if (path === null || options['custom-dataset-type'] !== 'mooncake_trace' || !hasTimestamp(firstLine(path)))
    return false;
  if (options['request-rate'] !== null)
    throw new CliError(
      `${path} has timestamps: remove --request-rate, or ignore the timestamps with --no-fixed-schedule`,
    );
  return true;
}

/** Empty when the file cannot be read: opening the dataset reports it. */
function firstLine(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const bytes = Buffer.alloc(FIRST_BYTES);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, FIRST_BYTES, 0));
    return text.split('\n').find((line) => line.trim() !== '') ?? '';
  } finally {
    closeSync(file);
  }
}

function hasTimestamp(line: string): boolean {
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === 'object' && row !== null && 'timestamp' in row && typeof row.timestamp === 'number';
  } catch (error) {
    // Reading the whole file reports the line.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
