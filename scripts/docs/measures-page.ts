import { ERROR_REASON_RULES, outcomeOf } from '../../core/measures/error-reasons.ts';
import { FOREIGN_DEFINITIONS } from '../../core/measures/foreign-definitions.ts';
import { GOODPUT_LIMITED, GOODPUT_MEASURES } from '../../core/measures/goodput.ts';
import { DISTRIBUTION_MEASURES, HTTP_MEASURES, SCALAR_MEASURES } from '../../core/measures/measures.ts';
import type { DistributionMeasure, ScalarMeasure } from '../../core/measures/measures.ts';
import { USAGE_CHECK_MEASURES, USAGE_DISCREPANCY_COUNT } from '../../core/measures/usage-check.ts';
import { SERVER_MEASURES } from '../../core/measures/server-results.ts';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import { ERROR_REASONS } from '../../core/run/record.ts';
import type { MeasureResult } from '../../core/run/result.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const DIRECTIONS = { lower: 'lower', higher: 'higher', none: '–' } as const;

/** Over which requests a run without a special wish tells a measure: `ok`, or `ok, all`. */
type Populations = ReadonlyMap<string, ReadonlySet<MeasureResult['population']>>;

/** Every measure as `core/measures` has it: meaning, unit, clock, requests that count. */
export function measuresPage(): string {
  const populations = toldPopulations();
  return page(
    GENERATED,
    '# Measures',
    INTRODUCTION,
    '## One value per request, or per gap between chunks',
    'Each is told as a distribution: n, mean, standard deviation, minimum, maximum and ten percentiles.',
    distributionTable(DISTRIBUTION_MEASURES, populations),
    CLOCKS,
    '## HTTP phases',
    'Only with `--export-http-trace`; names and meanings are those of AIPerf and k6. All are in seconds, from the sending, over ok requests.',
    table(
      ['measure', 'what it is'],
      HTTP_MEASURES.map(({ measure, formula }) => [code(measure), formula]),
    ),
    "## The server's counts against a tokenizer's",
    "Only with `--tokenizer`; of output tokens with `--check-usage` too. Meanings are AIPerf's `usage_…_diff_pct` and `usage_discrepancy_count`, as ratios and over ok requests. The chat template and special tokens are in the server's number alone.",
    table(
      ['measure', 'what it is', 'unit', 'definition'],
      [...USAGE_CHECK_MEASURES, USAGE_DISCREPANCY_COUNT].map(({ measure, formula, unit, definition }) => [
        code(measure),
        formula,
        unitText(unit),
        code(definition),
      ]),
    ),
    '## One number per run',
    'The window is the time from the first request of the measure phase to the end of its last.',
    scalarTable(Object.values(SCALAR_MEASURES), populations),
    "By the servers' own counters:",
    scalarTable(Object.values(SERVER_MEASURES), new Map()),
    '## Goodput',
    `Only with \`--goodput\`. A limit can be set on ${GOODPUT_LIMITED.map(({ measure }) => code(measure)).join(', ')}; milliseconds for times, tokens per second for rates. The limits are part of the definition.`,
    scalarTable(Object.values(GOODPUT_MEASURES), new Map()),
    '## Why requests fail',
    'The first rule that fits names the reason. `timeout` and `cancelled` are outcomes of their own; cancelled requests are in no population.',
    table(
      ['reason', 'outcome', 'rule'],
      ERROR_REASONS.map((reason) => [code(reason), code(outcomeOf(reason)), ERROR_REASON_RULES[reason]]),
    ),
    '## Definitions of other tools',
    "The same word, another number. An imported result whose raw data allow it is recomputed by the definitions above; else it keeps its tool's definition, named here, and is compared only with its like.",
    table(
      ['measure', 'definition', 'what it is'],
      [...FOREIGN_DEFINITIONS]
        .sort((a, b) => (a.measure < b.measure ? -1 : a.measure > b.measure ? 1 : 0))
        .map(({ measure, definition, formula }) => [code(measure), code(definition), formula]),
    ),
  );
}

const INTRODUCTION = `Every number of \`result.json\` carries the name of its definition. Two numbers are comparable when measure and definition are the same. Inside files and metrics all units are base units: seconds, tokens, ratios from 0 to 1. What cannot be had is \`null\` and never 0.

"Better" says which way is better; – describes the load and is not judged. "Requests" says over which requests a measure is taken: \`ok\` only over those that ended well; \`all\` with the failed ones inside, and in a latency a failed request counts as infinitely slow. Requests of the warm-up are in no measure.`;

const CLOCKS = `A measure whose clock is \`due\` counts from the instant at which the schedule wanted the request to be sent, so that waiting for a free slot is inside. In metrics and in \`--slo\` its name then ends in \`_from_due\` where the same measure also counts from the sending. Tokens are those of the server's \`usage\`; chunks are never counted as tokens.`;

function distributionTable(measures: readonly DistributionMeasure[], populations: Populations): string {
  return table(
    ['measure', 'what it is', 'unit', 'clock', 'better', 'requests', 'definition'],
    measures.map(({ measure, formula, unit, clock, direction, definition }) => [
      code(measure),
      formula,
      unitText(unit),
      clock,
      DIRECTIONS[direction],
      populationText(populations, definition),
      code(definition),
    ]),
  );
}

function scalarTable(measures: readonly ScalarMeasure[], populations: Populations): string {
  return table(
    ['measure', 'what it is', 'unit', 'better', ...(populations.size === 0 ? [] : ['requests']), 'definition'],
    measures.map(({ measure, formula, unit, direction, definition }) => [
      code(measure),
      formula,
      unitText(unit),
      DIRECTIONS[direction],
      ...(populations.size === 0 ? [] : [populationText(populations, definition)]),
      code(definition),
    ]),
  );
}

const unitText = (unit: string): string => unit.replace('_per_', '/').replaceAll('_', ' ');

const populationText = (populations: Populations, definition: string): string =>
  [...(populations.get(definition) ?? [])].join(', ');

/** Read from the summary of a run without requests, which has every measure. */
function toldPopulations(): Populations {
  const { measures } = new SummaryAccumulator({ plannedConcurrency: null }).summarize(null);
  const found = new Map<string, Set<MeasureResult['population']>>();
  for (const { definition, population } of measures)
    found.set(definition, (found.get(definition) ?? new Set()).add(population));
  return found;
}
