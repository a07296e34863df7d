import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import type { ResultFile, StageResult } from '../../../core/run/result.ts';
import { stageText } from '../../../core/run/stage-text.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { ABSENT, counted, quantity, significant } from '../../../core/text/quantities.ts';
import { columnBlocks, type TableColumn } from './column-blocks.ts';

const VERDICTS = { met: 'met', not_met: 'NOT MET', undecided: 'undecided' } as const;

/** One row per stage of a load, as wide as `width`; no line without stages. */
export function stageTable({ stages }: Pick<ResultFile, 'stages'>, width = Infinity): string[] {
  if (stages.length === 0) return [];
  const column = (above: string, below: string, cell: (stage: StageResult) => string): TableColumn => ({
    head: [above, below],
    cells: stages.map(cell),
  });
  const percentile = (measure: string, name: PercentileName) => (stage: StageResult) =>
    quantity(percentileOf(stage, measure, name), 'seconds');
  const rate = (measure: string) => (stage: StageResult) => {
    const found = stage.measures.find((each) => each.kind === 'scalar' && each.measure === measure);
    return found?.kind === 'scalar' && found.value !== null ? significant(found.value) : ABSENT;
  };
  const hasSlos = stages.some(({ slos }) => slos.length > 0);
  const columns = [
    column('', 'stage', ({ stage, load }) => `${stage} ${stageText(load)}`),
    column('', 'ok', ({ requests }) => counted(requests.ok)),
    column('', 'failed', ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    column('', 'req/s', rate('request_throughput')),
    column('output', 'tok/s', rate('output_token_throughput')),
    column('TTFT', 'p50', percentile('time_to_first_token', 'p50')),
    column('TTFT', 'p99', percentile('time_to_first_token', 'p99')),
    column('ITL', 'p50', percentile('inter_token_latency', 'p50')),
    column('ITL', 'p99', percentile('inter_token_latency', 'p99')),
    ...(hasSlos ? [column('', 'SLO', ({ slos }) => VERDICTS[worst(slos)])] : []),
  ];
  return [...columnBlocks(columns, width), '', 'a request belongs to the stage in which it was due'];
}

function percentileOf({ measures }: StageResult, measure: string, name: PercentileName): number | null {
  const found = measures.find(
    (each) =>
      each.kind === 'distribution' && each.measure === measure && each.population === 'ok' && each.clock === 'sent',
  );
  return found?.kind === 'distribution' ? found.percentiles[name].value : null;
}

function worst(slos: StageResult['slos']): keyof typeof VERDICTS {
  const verdicts = slos.map(({ verdict }) => verdict);
  return (['not_met', 'undecided'] as const).find((each) => verdicts.includes(each)) ?? 'met';
}
