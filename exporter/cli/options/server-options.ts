import { EXPORT_FORMATS, type ExportFormat } from '../../servers/files/exports/write-exports.ts';
import { parseTarget, type Target } from '../../servers/scrape/targets.ts';
import { choice, type Option } from './options.ts';

/** Flags about servers that take several values in a row. */
export const SERVER_LISTS = ['--server-metrics', '--server-metrics-formats', '--gpu-telemetry'];

const parts = (given: readonly string[]): string[] =>
  given.flatMap((text) => text.split(',')).filter((text) => text !== '');

/** Addresses of metrics pages, each checked. */
export function targets(help: string): Option<readonly Target[]> {
  return {
    help,
    value: 'URL…',
    multiple: true,
    parse: (given) =>
      parts(given).map((address) => {
        try {
          return parseTarget(address);
        } catch (error) {
          throw new Error(`an address such as localhost:8000 or triton=host (${(error as Error).message})`, {
            cause: error,
          });
        }
      }),
    fallback: [],
  };
}

export const formats: Option<readonly ExportFormat[]> = {
  help: `write server_metrics_export.* as AIPerf does: any of ${EXPORT_FORMATS.join(' ')}`,
  value: 'FORMAT…',
  multiple: true,
  parse: (given) =>
    parts(given).map((name) => {
      const format = EXPORT_FORMATS.find((each) => each === name);
      if (format === undefined) throw new Error(`any of ${EXPORT_FORMATS.join(', ')}`);
      return format;
    }),
  fallback: [],
};

export const definitions = choice(
  ['llmbench', 'aiperf'] as const,
  "definitions of the servers' statistics",
  'llmbench',
);

/** AIPerf's limits of its collection interval. */
export const INTERVAL_RANGE = { min: 0.001, max: 300 };
