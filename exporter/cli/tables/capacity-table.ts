import type { CapacityFile, CapacityProbe } from '../../../core/run/capacity.ts';
import { quantity, significant } from '../../../core/text/quantities.ts';
import { columnBlocks, factLines, TO_FILE, type Print } from './layout.ts';

const LOAD_TITLES = { concurrency: 'concurrency', request_rate: 'requests/s' } as const;

/** The probes of a search by load, one line each, and the response. */
export function capacityTable(file: CapacityFile, { width, paint }: Print = TO_FILE): string {
  const probes = [...file.probes].sort((a, b) => a.load - b.load || a.repeat - b.repeat);
  const head = [LOAD_TITLES[file.load], 'verdict', ...file.objectives.map(({ text }) => text), 'n', 'sent', 'time'];
  const rows = probes.map((probe) => [
    String(probe.load),
    verdictText(probe),
    ...probe.objectives.map(({ value }, i) => quantity(value, file.objectives[i]?.unit ?? 'ratio')),
    significant(Math.min(...probe.objectives.map(({ n }) => n))),
    significant(probe.requests),
    quantity(probe.seconds, 'seconds'),
  ]);
  const { requests, seconds, output_tokens: tokens } = file.used;
  const notes = probes.flatMap(({ why, verdict, load }) =>
    why === null || verdict === 'holds' ? [] : [`${LOAD_TITLES[file.load]} ${load}: ${why}`],
  );
  return [
    ...columnBlocks(
      head.map((name, i) => ({ head: [name], cells: rows.map((row) => row[i] ?? '') })),
      width,
      paint,
    ),
    ...new Set(notes),
    ...(probes.some(({ conclusive }) => !conclusive)
      ? ['holds?: enough to choose the next load, not to confirm this one']
      : []),
    '',
    `used        ${significant(requests)} requests, ${significant(tokens)} output tokens, ${quantity(seconds, 'seconds')}`,
    ...factLines('capacity', file.sentence, width),
    ...clientLines(file).flatMap((text) => factLines('client', text, width)),
  ].join('\n');
}

/** A client that is late can make a load fail, but not hold. */
function clientLines({ probes, fails, load }: CapacityFile): string[] {
  const late = probes.filter(({ client, verdict }) => client === 'saturated' && verdict === 'fails');
  if (fails === null || !late.some((probe) => probe.load === fails)) return [];
  return [
    `saturated at ${LOAD_TITLES[load]} ${fails}, which fails: the capacity may be that of the client; use more --workers or another machine`,
  ];
}

/** One probe, when it has ended. */
export function probeLine(file: Pick<CapacityFile, 'load' | 'objectives'>, probe: CapacityProbe): string {
  const values = probe.objectives.map(({ value, n }, i) => {
    const { text = '', unit = 'ratio' } = file.objectives[i] ?? {};
    return `${text}: ${quantity(value, unit)} (n = ${n})`;
  });
  const why = probe.why === null || probe.verdict === 'holds' ? '' : `; ${probe.why}`;
  const client = probe.client === 'saturated' ? '; client saturated' : '';
  return `${LOAD_TITLES[file.load]} ${probe.load} ${verdictText(probe)}; ${values.join(', ')}${why}${client}`;
}

/** A verdict that has to be confirmed has a question mark. */
const verdictText = ({ verdict, conclusive }: CapacityProbe): string => `${verdict}${conclusive ? '' : '?'}`;
