import { parseText, type Labels, type MetricFamily, type MetricType } from '../../../core/exposition/index.ts';
import { plainNumber } from '../../metrics/plain-number.ts';
import { escapeLabelValue } from '../../metrics/text-escapes.ts';

type Sample = MetricFamily['samples'][number];

/** The page of a worker, and the address at which the gateway reads it. */
export interface WorkerPage {
  readonly url: string;
  readonly text: string;
}

/**
 * The pages of all workers as one, as the gateway answers `/engine_metrics`: the parser that it uses knows no colons, so
 * that each is an underscore, also in HELP and in the values of labels; each series gets the address of its worker; two
 * empty lines follow each family.
 */
export function enginePage(pages: readonly WorkerPage[]): string {
  const families = new Map<string, { readonly head: string; text: string }>();
  for (const { url, text } of pages) {
    for (const { name, type, help, samples } of parseText(Buffer.from(text.replaceAll(':', '_'))).families) {
      const head = `${help === null ? '' : `# HELP ${name} ${help}\n`}# TYPE ${name} ${type}\n`;
      const family = families.get(name) ?? { head, text: '' };
      for (const sample of samples) family.text += line(sample, type, url);
      families.set(name, family);
    }
  }
  return Array.from(families.values(), ({ head, text }) => `${head}${text}\n\n`).join('');
}

function line({ name, labels: { le, ...labels }, value }: Sample, type: MetricType, worker: string): string {
  // Rust writes an infinite bound without its sign.
  const written = type === 'histogram' && le !== undefined ? (le === '+Inf' ? 'inf' : plainNumber(Number(le))) : le;
  const bound: Labels = written === undefined ? {} : { le: written };
  const pairs = Object.entries<string>({ ...labels, worker_addr: worker, ...bound });
  return `${name}{${pairs.map(([label, text]) => `${label}="${escapeLabelValue(text)}"`).join(',')}} ${plainNumber(value)}\n`;
}
