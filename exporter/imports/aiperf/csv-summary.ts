import { ImportRefusal } from '../import-refusal.ts';
import { printable } from '../import-notes.ts';
import { csvRows } from '../reading/csv.ts';

/** Decimals that AIPerf and genai-perf write in their CSV. */
export const CSV_ROUNDING = 0.01;

const TITLE = /^(.*?)(?: \(([^()]*)\))?$/;

/**
 * A summary in CSV in the form of the JSON: metrics by tag with `unit` and statistics. The first table has the statistics
 * of the requests, the second one value per metric; tables of GPUs, which come after, are left out. Throws `ImportRefusal` when it has a metric twice.
 */
export function summaryOfCsv(text: string): Record<string, Record<string, string | number>> {
  const metrics = Object.create(null) as Record<string, Record<string, string | number>>;
  let columns: readonly string[] = [];
  for (const row of csvRows(text)) {
    const [title = '', ...values] = row;
    if (title === 'Metric') columns = values.map((name) => (name === 'Value' ? 'avg' : name));
    else if (title === 'Endpoint') break;
    else if (title !== '' && columns.length > 0) {
      const tag = tagOf(title);
      if (Object.hasOwn(metrics, tag)) throw new ImportRefusal(`the CSV has the metric "${printable(title)}" twice`);
      metrics[tag] = metricOf(title, columns, values);
    }
  }
  return { ...metrics };
}

function metricOf(
  title: string,
  columns: readonly string[],
  values: readonly string[],
): Record<string, string | number> {
  const unit = unitOf(title);
  const statistics = columns.flatMap((name, i) => {
    const text = (values[i] ?? '').replaceAll(',', '');
    return text === '' || Number.isNaN(Number(text)) ? [] : [[name, Number(text)] as const];
  });
  return { unit, ...Object.fromEntries(statistics) };
}

/** genai-perf writes `(per sec)`, whatever is counted. */
function unitOf(title: string): string {
  const unit = TITLE.exec(title)?.[2];
  if (unit === 'per sec') return /^request/i.test(title) ? 'requests/sec' : 'tokens/sec';
  return unit ?? (/\bcount$/i.test(title) ? 'requests' : '');
}

/** Where the title of a metric is not its tag in words. */
const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^(.+)_error_adjusted$/, 'adj_$1'],
  [/^http_(?!req_)/, 'http_req_'],
  [/^total_input_sequence_length$/, 'total_isl'],
  [/^(total_)?error_input_sequence_length$/, '$1error_isl'],
  [/^total_output_sequence_length$/, 'total_osl'],
  [/^completed_requests$/, 'completed_request_count'],
  [/^goodrequestfraction$/, 'good_request_fraction'],
];

/** `Time to First Token (ms)` is `time_to_first_token`. */
function tagOf(title: string): string {
  const name = TITLE.exec(title)?.[1] ?? title;
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const [pattern, tag] = TAGS.find(([each]) => each.test(words)) ?? [];
  return pattern === undefined || tag === undefined ? words : words.replace(pattern, tag);
}
