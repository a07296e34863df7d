import { CAPACITY_MEASURES, SCALAR_MEASURES } from '../../core/measures/scalar-measures.ts';
import { COST_MEASURES, ENERGY_MEASURES } from '../../core/measures/energy-results.ts';
import { FOREIGN_DEFINITIONS } from '../../core/measures/foreign-definitions.ts';
import { GOODPUT_LIMITED, GOODPUT_MEASURES } from '../../core/measures/goodput.ts';
import { DISTRIBUTION_MEASURES, HTTP_MEASURES } from '../../core/measures/measures.ts';
import type { DistributionMeasure, ScalarMeasure } from '../../core/measures/measures.ts';
import { CONVERSATION_MEASURES, TURN_MEASURES } from '../../core/measures/conversations.ts';
import { USAGE_CHECK_MEASURES, USAGE_DISCREPANCY_COUNT } from '../../core/measures/usage-check.ts';
import { PLAN_MEASURES, SERVER_MEASURES } from '../../core/measures/scalar-results.ts';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import { ERROR_REASONS, ERROR_REASON_RULES, outcomeOf } from '../../core/run/record.ts';
import type { MeasureResult } from '../../core/run/result.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const DIRECTIONS = { lower: 'lower', higher: 'higher', none: '–' } as const;

/** The requests over which a run reports a measure by default: `ok`, or `ok, all`. */
type Populations = ReadonlyMap<string, ReadonlySet<MeasureResult['population']>>;

/** Every measure as `core/measures` has it: meaning, unit, clock, requests that count. */
export function measuresPage(): string {
  const populations = reportedPopulations();
  return page(
    GENERATED,
    '# Measures',
    INTRODUCTION,
    '## Distributions per request or per gap between chunks',
    'Each is a distribution: n, mean, standard deviation, minimum, maximum and ten percentiles.',
    distributionTable(DISTRIBUTION_MEASURES, populations),
    CLOCKS,
    '## HTTP phases',
    'Only with `--export-http-trace`; names and meanings are those of AIPerf and k6. All are in seconds, from sending, over ok requests.',
    table(
      ['measure', 'meaning'],
      HTTP_MEASURES.map(({ measure, formula }) => [code(measure), formula]),
    ),
    '## Conversations',
    'Only in runs with conversations. Pauses are those of the plan. A conversation is complete when all its requests were sent and ended ok. Latencies, tokens, cache hits and errors are also reported by turn, under `breakdown` of result.json: of the first turns, of the later ones, and of classes of those by number.',
    table(
      ['measure', 'meaning', 'unit', 'definition'],
      [...CONVERSATION_MEASURES, ...TURN_MEASURES].map(({ measure, formula, unit, definition }) => [
        code(measure),
        formula,
        unitText(unit),
        code(definition),
      ]),
    ),
    '## Server token counts compared with a tokenizer',
    "Only with `--tokenizer`; of output tokens with `--check-usage` too. Meanings are AIPerf's `usage_…_diff_pct` and `usage_discrepancy_count`, as ratios and over ok requests. Only the server's number includes the chat template and special tokens.",
    table(
      ['measure', 'meaning', 'unit', 'definition'],
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
    "From the servers' own counters:",
    scalarTable(Object.values(SERVER_MEASURES), new Map()),
    'From the plan, where it knows what its prompts share (prefixes, system prompts, conversations, traces with hash IDs):',
    scalarTable(Object.values(PLAN_MEASURES), new Map()),
    '## Energy',
    ENERGY,
    scalarTable(Object.values(ENERGY_MEASURES), new Map()),
    '## Cost',
    COST,
    scalarTable(Object.values(COST_MEASURES), new Map()),
    '## Goodput',
    `Only with \`--goodput\`. A limit can be set on ${GOODPUT_LIMITED.map(({ measure }) => code(measure)).join(', ')}; milliseconds for times, tokens per second for rates. The limits are part of the definition.`,
    scalarTable(Object.values(GOODPUT_MEASURES), new Map()),
    '## Capacity',
    'Of a search (`run --find`), not of a run: an interval, which `llmbench compare` judges. The objectives are part of the definition.',
    scalarTable(Object.values(CAPACITY_MEASURES), new Map()),
    '## Why requests fail',
    'The first rule that matches determines the reason. `timeout` and `cancelled` are separate outcomes; cancelled requests are in no population.',
    table(
      ['reason', 'outcome', 'rule'],
      ERROR_REASONS.map((reason) => [code(reason), code(outcomeOf(reason)), ERROR_REASON_RULES[reason]]),
    ),
    '## Definitions of other tools',
    "Other tools use the same names for different quantities. An imported result is recomputed by the definitions above if its raw data allow it; otherwise it keeps its tool's definition, listed here, and is compared only with results of the same definition.",
    table(
      ['measure', 'definition', 'meaning'],
      [...FOREIGN_DEFINITIONS]
        .sort((a, b) => (a.measure < b.measure ? -1 : a.measure > b.measure ? 1 : 0))
        .map(({ measure, definition, formula }) => [code(measure), code(definition), formula]),
    ),
  );
}

const INTRODUCTION = `Every value in \`result.json\` names its definition. Two numbers are comparable when measure and definition are the same. Inside files and metrics all units are base units: seconds, tokens, ratios from 0 to 1. An unknown value is \`null\`, never 0. The file leaves out what is null in a distribution and, of a measure without a value, what this page has of it; statistics over \`all\` that equal those over \`ok\`, because no request failed, are stored once, as \`"also":"all"\`. \`--json\`, the API and the views of \`llmbench runs query\` have every measure in full.

"Better" is the direction of improvement; – describes the load and is not judged. "Requests" is the population: \`ok\` are the successful requests; \`all\` includes the failed ones, which count as infinitely slow in latencies. Warm-up requests are in no measure.`;

const ENERGY = `Only if the GPUs are observed: by a DCGM exporter, AMD's Device Metrics Exporter or Triton, else by \`nvidia-smi\` or \`rocm-smi\` if the server is on this machine. The energy of a GPU is the difference of its energy counter between the edges of the window, linear between the readings of its exporter; without a counter it is the integral of its power (trapezoids between the scrapes). \`result.json\` lists each GPU with its source and its resolution: the longest time without a reading. A DCGM exporter reads its GPUs every 30 s by default (\`DCGM_EXPORTER_INTERVAL\`), and the energy of a window that is not many times longer is an estimate. If the energy of one GPU is unknown, so is the sum. All GPUs on the pages count, also those that the server does not use.`;

const COST = `Only with \`--gpu-hour-price\`. The number of GPUs is \`--gpu-count\`, else the number that the GPU exporters report, else that of \`nvidia-smi\` or \`rocm-smi\`; if it is unknown, so is the cost. The definition of a result ends in the currency: costs in different currencies are not compared.`;

const CLOCKS = `A measure with the clock \`due\` starts at the time at which the schedule required the request to be sent, so that it includes waiting for a free slot. If the same measure also exists from sending, the name from due ends in \`_from_due\` in metrics and in \`--slo\`. Tokens are those of the server's \`usage\`; chunks are never counted as tokens.`;

function distributionTable(measures: readonly DistributionMeasure[], populations: Populations): string {
  return table(
    ['measure', 'meaning', 'unit', 'clock', 'better', 'requests', 'definition'],
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
    ['measure', 'meaning', 'unit', 'better', ...(populations.size === 0 ? [] : ['requests']), 'definition'],
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
function reportedPopulations(): Populations {
  const { measures } = new SummaryAccumulator({ plannedConcurrency: null }).summarize(null);
  const found = new Map<string, Set<MeasureResult['population']>>();
  for (const { definition, population } of measures)
    found.set(definition, (found.get(definition) ?? new Set()).add(population));
  return found;
}
