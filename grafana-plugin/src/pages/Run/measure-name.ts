import { t } from '@grafana/i18n';
import type { MeasureVerdict } from '../../exporter-api/types.ts';

/** The name of a measure for people; the measure's own words where it has none. */
export function measureName(measure: string, clock?: string): string {
  const name = names()[measure] ?? capitalised(measure.replaceAll('_', ' '));
  return clock === 'due' && measure !== 'schedule_delay' ? t('measure.from-due', '{{name}}, from due', { name }) : name;
}

/** Which statistic of which measure. */
type Statistic = Pick<MeasureVerdict, 'measure' | 'stat' | 'clock' | 'population' | 'origin' | 'definition'>;

/** `Time to first token p90`; measures of one name differ by what they count. */
export function statisticName({ measure, stat, clock, population, origin }: Statistic): string {
  const name = [measureName(measure, clock), stat === 'value' ? '' : stat.replace('_', '.')].filter(Boolean).join(' ');
  return [
    name,
    ...(population === 'all' && stat !== 'value' ? [t('comparison.all', 'failed requests as infinitely slow')] : []),
    ...(origin === 'server' ? [t('comparison.server', 'server')] : []),
  ].join(', ');
}

export function statisticKey({ measure, stat, clock, population, origin, definition }: Statistic): string {
  return [measure, stat, clock, population, origin, definition].join(' ');
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function names(): Record<string, string> {
  return {
    time_to_first_token: t('measure.ttft', 'Time to first token'),
    time_to_second_token: t('measure.ttst', 'Time to second token'),
    inter_token_latency: t('measure.itl', 'Inter-token latency'),
    inter_chunk_latency: t('measure.icl', 'Inter-chunk latency'),
    request_latency: t('measure.latency', 'Request latency'),
    decode_duration: t('measure.decode', 'Decode duration'),
    schedule_delay: t('measure.schedule-delay', 'Schedule delay'),
    connect_time: t('measure.connect', 'Connect time'),
    input_sequence_length: t('measure.input', 'Input length'),
    output_sequence_length: t('measure.output', 'Output length'),
    e2e_output_token_throughput: t('measure.e2e-throughput', 'E2E output token throughput'),
    request_throughput: t('measure.request-throughput', 'Request throughput'),
    output_token_throughput: t('measure.output-throughput', 'Output token throughput'),
    input_token_throughput: t('measure.input-throughput', 'Input token throughput'),
    total_token_throughput: t('measure.total-throughput', 'Total token throughput'),
    error_ratio: t('measure.error-ratio', 'Error ratio'),
    good_request_ratio: t('measure.good-ratio', 'Good request ratio'),
    goodput: t('measure.goodput', 'Goodput'),
  };
}
