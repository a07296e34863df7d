import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ResultFile } from '../../core/run/result.ts';
import { figuresOfRun } from '../../exporter/judge/load-figures.ts';
import { defaultRules, gatingPlace } from '../../exporter/judge/rules.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import type { FigureKey } from '../../core/api/verdict.ts';
import type { RunFile } from '../../core/run/run.ts';

/** Repeats of one scenario on a real server on which nothing changed, as `record-repeats.ts` writes them. */
export interface RepeatsFile {
  readonly server: string;
  readonly llmbench: string;
  /** Options of `llmbench run`, without addresses and folders. */
  readonly options: string;
  /** The figures that gate by default; the values of each run are in this order. */
  readonly figures: readonly FigureKey[];
  readonly runs: readonly Repeat[];
}

/** What a test on requests needs. */
export interface RequestSample {
  readonly n: number;
  readonly mean: number;
  readonly std: number;
}

type Circumstances = Pick<RunFigures, 'start' | 'client' | 'foreign_traffic' | 'load'>;

interface Repeat extends Circumstances {
  readonly values: readonly (number | null)[];
  readonly effective_n: readonly (number | null)[];
  readonly requests: readonly RequestSample[];
}

/** A real run as the judge and the peers read it. */
export interface RealRun {
  readonly figures: RunFigures;
  readonly requests: readonly RequestSample[];
}

/** Whose means a test on requests compares. */
const OF_REQUESTS = ['time_to_first_token', 'inter_token_latency'];

/** The recorded repeats of a server. */
export function readRepeats(server: string): { readonly server: string; readonly runs: readonly RealRun[] } {
  const path = fileURLToPath(new URL(`../../fixtures/${server}/repeats.json`, import.meta.url));
  const file = JSON.parse(readFileSync(path, 'utf8')) as RepeatsFile;
  const runs = file.runs.map(({ values, effective_n, requests, ...circumstances }, place): RealRun => {
    const identity = { run_id: `r${place}`, scenario: server, fingerprint: server };
    const figures = file.figures.map((key, i) => ({
      ...{ ...key, value: values[i] ?? null, n: null, ci95: null, effective_n: effective_n[i] ?? null },
    }));
    return { figures: { ...identity, ...circumstances, figures }, requests };
  });
  return { server: file.server, runs };
}

/** One line per run. */
export function repeatsText({ runs, ...head }: RepeatsFile): string {
  const lines = runs.map((run) => `    ${JSON.stringify(run)}`).join(',\n');
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "runs": [\n${lines}\n  ]\n}\n`;
}

/** What is kept of stored runs, oldest first. Throws when they are not repeats of one configuration. */
export function repeatsFile(
  stored: readonly { readonly run: RunFile; readonly result: ResultFile }[],
  { server, options }: Pick<RepeatsFile, 'server' | 'options'>,
): RepeatsFile {
  const [first] = stored;
  if (first === undefined) throw new Error('there are no runs');
  if (new Set(stored.map(({ run }) => run.fingerprint)).size > 1) throw new Error('the runs differ in configuration');
  const rules = defaultRules([]);
  const figuresOf = ({ run, result }: (typeof stored)[number]) =>
    figuresOfRun(run, result)
      .figures.filter((figure) => gatingPlace(rules, figure) >= 0)
      .sort((x, y) => gatingPlace(rules, x) - gatingPlace(rules, y));
  return {
    server,
    llmbench: first.run.tool.version ?? '',
    options,
    figures: figuresOf(first).map(({ value: _, n: __, ci95: ___, effective_n: ____, ...key }) => key),
    runs: stored.map((each): Repeat => {
      const { start, client, foreign_traffic, load } = figuresOfRun(each.run, each.result);
      const figures = figuresOf(each);
      return {
        ...{ start, client, foreign_traffic, load },
        values: figures.map(({ value }) => (typeof value === 'number' ? value : null)),
        effective_n: figures.map(({ effective_n }) => effective_n),
        requests: OF_REQUESTS.map((measure) => requestSample(each.result, measure)),
      };
    }),
  };
}

function requestSample({ measures }: ResultFile, name: string): RequestSample {
  const found = measures.find(
    ({ measure, population, clock }) => measure === name && population === 'ok' && clock === 'sent',
  );
  if (found?.kind !== 'distribution') throw new Error(`a run has no ${name}`);
  return { n: found.n ?? NaN, mean: found.mean ?? NaN, std: found.std ?? NaN };
}
