import { firstLineOf, TIMED_TYPES } from '../../load/datasets/detect-file-type.ts';
import type { FileType } from '../../load/datasets/open-dataset.ts';
import { CliError } from '../failure.ts';
import { requestedFileType } from './traffic-options.ts';

export interface ScheduleOptions {
  readonly 'fixed-schedule': boolean;
  readonly 'no-fixed-schedule': boolean;
  readonly 'request-rate': readonly number[] | null;
  readonly stages: unknown;
  readonly 'input-file': string | null;
  readonly 'custom-dataset-type': FileType | null;
}

/**
 * Whether the requests come at the times of their input: when requested, and when the input is a trace whose first
 * request has a time, as in AIPerf. Throws a `CliError` when another option contradicts it.
 */
export function followsSchedule(options: ScheduleOptions): boolean {
  if (options['fixed-schedule'] || options['no-fixed-schedule']) return options['fixed-schedule'];
  const path = options['input-file'];
  if (path === null) return false;
  const { type } = requestedFileType(path, options['custom-dataset-type']);
  const isTimed = type === 'mooncake_trace' ? hasTimestamp(firstLineOf(path)) : TIMED_TYPES.has(type);
  if (!isTimed) return false;
  const beside = (['request-rate', 'stages'] as const).find((name) => options[name] !== null);
  if (beside !== undefined)
    throw new CliError(`${path} has timestamps: remove --${beside}, or ignore the timestamps with --no-fixed-schedule`);
  return true;
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
