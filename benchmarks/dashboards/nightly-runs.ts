import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FinishedRun } from '../../dashboards/testing/benchmark.ts';
import type { Series } from '../../dashboards/testing/prometheus-api.ts';

export const NIGHTS = 30;
export const SCENARIOS = 3;
const DAY_SECONDS = 86_400;
/** From one scenario of a night to the next. */
const APART_SECONDS = 600;
/** A sample holds for five minutes: of verdicts, which the exporter exposes all day, one is stored for each four. */
const STATE_SECONDS = 240;
/** Larger than 30 days, so that there are as few blocks as after compaction. */
const BLOCK_DURATION = '744h';

/** What a Prometheus has stored of one run: the client's page, those of the servers, rules and results. */
export interface RecordedRun {
  readonly run: FinishedRun;
  readonly series: readonly Series[];
  /** The scenario whose verdicts the exporter exposes. */
  readonly judged: string;
}

/** The runs of the nights before `endSeconds`, the oldest first. */
export interface NightlyRuns {
  readonly runIds: readonly string[];
  readonly samples: number;
}

/**
 * Writes the recorded run as every scenario of every night, at their times and with run ids of their own, and the verdicts on
 * the scenarios all day, as blocks of Prometheus into `dataFolder`.
 */
export async function writeNightlyRuns(
  recorded: RecordedRun,
  endSeconds: number,
  { promtool, dataFolder }: { readonly promtool: string; readonly dataFolder: string },
): Promise<NightlyRuns> {
  const firstNight = (Math.floor(endSeconds / DAY_SECONDS) - NIGHTS) * DAY_SECONDS + 3600;
  const file = join(dataFolder, '..', 'nightly-runs.openmetrics');
  const out = createWriteStream(file);
  const runIds: string[] = [];
  let samples = 0;
  const write = async ({ metric, samples: points }: Series): Promise<void> => {
    samples += points.length;
    const name = seriesName(metric);
    if (!out.write(points.map(([seconds, value]) => `${name} ${value} ${seconds.toFixed(3)}\n`).join('')))
      await once(out, 'drain');
  };
  const ofRun = recorded.series.filter((series) => belongs(series, recorded));
  const verdicts = recorded.series.filter(({ metric }) => metric['scenario'] === recorded.judged && !metric['run_id']);
  for (let night = 0; night < NIGHTS; night++) {
    for (let index = 0; index < SCENARIOS; index++) {
      const start = firstNight + night * DAY_SECONDS + index * APART_SECONDS;
      const runId = `${new Date(start * 1000).toISOString().replace(/[-:]|\.\d+/g, '')}-nightly${index}`;
      runIds.push(runId);
      for (const series of ofRun) await write(moved(series, recorded.run, { runId, index, start }));
      for (const series of verdicts) await write(held(series, recorded.run, index, start));
    }
  }
  out.end('# EOF\n');
  await once(out, 'close');
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', `--max-block-duration=${BLOCK_DURATION}`, '--quiet'];
  await promisify(execFile)(promtool, [...args, file, dataFolder], { maxBuffer: 1e8 });
  await rm(file);
  return { runIds, samples };
}

/** Recorded pages have servers of their own, and the other runs of the exporter are no part of this one. */
function belongs({ metric }: Series, { run, judged }: RecordedRun): boolean {
  const ofOther =
    metric['run_id'] === undefined
      ? metric['scenario'] !== undefined && metric['scenario'] !== judged
      : metric['run_id'] !== run.runId;
  return !ofOther && !(metric['instance'] ?? '').startsWith('replay-') && metric['__name__'] !== 'ALERTS';
}

interface Place {
  readonly runId: string;
  readonly index: number;
  readonly start: number;
}

function moved({ metric, samples }: Series, run: FinishedRun, { runId, index, start }: Place): Series {
  const shift = start - run.startSeconds;
  const labels = {
    ...metric,
    ...(metric['run_id'] === undefined ? {} : { run_id: runId }),
    ...(metric['scenario'] === undefined ? {} : { scenario: scenarioOf(index) }),
    ...(metric['start'] === undefined ? {} : { start: new Date(start * 1000).toISOString().replace(/\.\d+/, '') }),
  };
  return {
    metric: labels,
    samples: samples.map(([at, value]) => [at + shift, valueAt(metric, value, shift)] as const),
  };
}

/** The last value of a verdict, from the run of a night until that of the next. */
function held({ metric, samples }: Series, run: FinishedRun, index: number, start: number): Series {
  const [, value = 'NaN'] = samples.at(-1) ?? [];
  const count = Math.floor(DAY_SECONDS / STATE_SECONDS) - 1;
  const shifted = valueAt(metric, value, start - run.startSeconds);
  // After the samples of the run itself.
  const points = Array.from({ length: count }, (_, at) => [start + (at + 1) * STATE_SECONDS, shifted] as const);
  return { metric: { ...metric, scenario: scenarioOf(index) }, samples: points };
}

/** A value that is a time moves with the run. */
function valueAt(metric: Series['metric'], value: string, shift: number): string {
  const isTime = (metric['__name__'] ?? '').endsWith('_timestamp_seconds') && Number(value) > 0;
  return isTime ? String(Number(value) + shift) : value;
}

export function scenarioOf(index: number): string {
  return `nightly-${index}`;
}

function seriesName({ __name__: name = '', ...labels }: Series['metric']): string {
  const escaped = (value: string): string =>
    value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value)}"`)
    .join(',')}}`;
}
