import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { sampleLine } from './exposition-text.ts';
import { LatencyHistograms } from './latency-histograms.ts';
import { RUN_INFO, runInfoLabels } from './run-info.ts';
import { RESULT_UNITS, resultSamples } from './result-samples.ts';

/** The lines of one run, by family. */
export type FamilyLines = ReadonlyMap<string, string>;

export interface FamilyFacts {
  readonly name: string;
  readonly help: string;
  readonly type: string;
}

export const RESULT_FAMILIES: readonly FamilyFacts[] = RESULT_UNITS.map((unit) => ({
  name: `llmbench_result_${unit}`,
  help: `Exact results of finished runs whose unit is ${unit.replaceAll('_', ' ')}: one number for each measure and statistic.`,
  type: 'gauge',
}));

const HISTOGRAM_PREFIX = 'llmbench_result_';

export const RESULT_HISTOGRAM_FAMILIES: readonly FamilyFacts[] = new LatencyHistograms(HISTOGRAM_PREFIX, {}).families;

/** What a finished run is and its exact numbers. `duplicates` counts numbers left out since another has their labels. */
export function resultLines(
  run: RunFile,
  result: ResultFile,
): { lines: FamilyLines; series: number; duplicates: number } {
  const lines = new Map<string, string>([
    [RUN_INFO.name, sampleLine(RUN_INFO.name, { labels: runInfoLabels(run), value: 1 })],
  ]);
  const seen = new Set<string>();
  let duplicates = 0;
  for (const { unit, measure, stat, value } of resultSamples(result)) {
    const name = `llmbench_result_${unit}`;
    const key = JSON.stringify([unit, measure, stat]);
    if (seen.has(key)) duplicates += 1;
    else {
      const line = sampleLine(name, { labels: { run_id: run.run_id, measure, stat }, value });
      lines.set(name, (lines.get(name) ?? '') + line);
    }
    seen.add(key);
  }
  return { lines, series: seen.size + 1, duplicates };
}

/** The histograms of a finished run, rebuilt from its records: the live ones, under the names of results. */
export async function histogramLines(run: RunFile, records: AsyncIterable<RequestRecord>): Promise<FamilyLines> {
  const histograms = new LatencyHistograms(HISTOGRAM_PREFIX, { run_id: run.run_id });
  for await (const record of records) {
    if (record.phase === 'measure') histograms.replay(record);
  }
  return new Map(
    histograms.families.map((family) => [
      family.name,
      family
        .samples()
        .map((sample) => sampleLine(family.name, sample))
        .join(''),
    ]),
  );
}
