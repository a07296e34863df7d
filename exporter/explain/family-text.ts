import type { EquivalentFamily } from '../../catalog/equivalents.ts';
import type { FamilyExplanation, QuantityExplanation } from './family-explanation.ts';
import { wrapped } from '../../core/text/words.ts';

const LABEL_WIDTH = 13;

/** One family for the terminal; lines of at most `columns` characters where words allow it. */
export function familyText(explanation: FamilyExplanation, columns: number): string {
  const { family, system, system_title, meaning } = explanation;
  const rows: (readonly [label: string, text: string])[] = [
    ['system', `${system_title} (catalog ${system})`],
    ['type', typeText(explanation)],
    ['unit', unitText(explanation)],
    ...observationRow(explanation),
    ['labels', labelsText(explanation)],
    ...Object.entries(explanation.label_values).map(
      ([label, values]) => ['', `${label}: ${values.map(quoted).join(', ')}`] as const,
    ),
    ...bucketsRow(explanation),
    ...bucketOptionRow(explanation),
    [
      'group',
      `${explanation.group}${explanation.required ? ' (required: used by dashboards, rules or explanations)' : ''}`,
    ],
    ['exposed', exposedText(explanation)],
    ...(explanation.since === null ? [] : [['since', explanation.since] as const]),
    ...(explanation.until === null ? [] : [['until', explanation.until] as const]),
    ...(explanation.deprecated === null ? [] : [['deprecated', explanation.deprecated] as const]),
    ...jsonRow(explanation),
    ...explanation.equivalents.flatMap(equivalentRows),
    ...usesRows(explanation),
  ];
  const lines = rows.flatMap(([label, text]) =>
    wrapped(text, columns - LABEL_WIDTH - 2).map((line, i) => `  ${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`),
  );
  return [family, ...wrapped(meaning, columns - 2).map((line) => `  ${line}`), '', ...lines, ''].join('\n');
}

const quoted = (value: string): string => (value === '' ? '""' : value);

function typeText({ type, other_types }: FamilyExplanation): string {
  return [type, ...other_types.map((other) => `${other.type} in ${other.where}`)].join('; ');
}

function unitText({ unit, base_unit, factor, units_by_label_value }: FamilyExplanation): string {
  if (units_by_label_value !== null)
    return `by label value: ${Object.entries(units_by_label_value)
      .map(([value, its]) => `${value} in ${its}`)
      .join(', ')}`;
  return base_unit === null ? unit : `${unit}; times ${factor} in ${base_unit}`;
}

function observationRow({ per, observation }: FamilyExplanation): (readonly [string, string])[] {
  if (per === null) return [];
  if (per === 'unknown') return [['one value is', `not known: ${observation}`]];
  return [['one value is', observation ?? `one ${per}`]];
}

function labelsText({ labels, optional_labels }: FamilyExplanation): string {
  const optional = optional_labels.length === 0 ? '' : `; in some modes or versions: ${optional_labels.join(', ')}`;
  return (labels.length === 0 ? 'none' : labels.join(', ')) + optional;
}

function bucketsRow({ buckets, quantiles }: FamilyExplanation): (readonly [string, string])[] {
  if (quantiles !== null) return [['quantiles', quantiles.join(' ')]];
  if (buckets === null) return [];
  return [['buckets', typeof buckets === 'string' ? buckets : `${buckets.join(' ')} +Inf`]];
}

function bucketOptionRow({ bucket_option: option }: FamilyExplanation): (readonly [string, string])[] {
  if (option === null) return [];
  const since = option.since === null ? '' : ` (${option.since})`;
  return [['set by', `${option.name}${since}${option.note === null ? '' : `. ${option.note}`}`]];
}

const EXPOSED: Readonly<Record<FamilyExplanation['exposed'], string>> = {
  always: 'from the start',
  on_use: 'after the first event',
  switch: 'depends on',
  other_release: 'in other releases only',
  never: 'never',
};

function exposedText({ exposed, when, part }: FamilyExplanation): string {
  const where = part === null ? '' : ` (page of: ${part.replaceAll('_', ' ')})`;
  return `${EXPOSED[exposed]}${when === 'always' ? '' : `: ${when}`}${where}`;
}

function jsonRow({ json_source }: FamilyExplanation): (readonly [string, string])[] {
  if (json_source === null) return [];
  const { path, unit, kind, native } = json_source;
  return [
    ['JSON field', `${path} (${unit}, ${kind})${native === undefined ? '' : `; the server's own family: ${native}`}`],
  ];
}

function equivalentRows({
  quantity,
  definition,
  measure,
  note,
  others,
}: QuantityExplanation): (readonly [string, string])[] {
  return [
    ['quantity', `${quantity}: ${definition}${note === null ? '' : ` Here: ${note}.`}`],
    ...(measure === null ? [] : [['', `llmbench's measure: ${measure}`] as const]),
    ...others.map((other, i) => [i === 0 ? 'equivalents' : '', memberText(other)] as const),
  ];
}

function memberText({ system, family, labels, only, note }: EquivalentFamily): string {
  const selector =
    labels === undefined
      ? ''
      : `{${Object.entries(labels)
          .map(([name, value]) => `${name}="${value}"`)
          .join(',')}}`;
  const remarks = [only === 'sum' ? 'the sum only' : '', note ?? ''].filter((remark) => remark !== '');
  return `${system}: ${family}${selector}${remarks.length === 0 ? '' : ` (${remarks.join('; ')})`}`;
}

function usesRows({ dashboards, rules }: FamilyExplanation): (readonly [string, string])[] {
  const shown = dashboards.map(
    ({ dashboard, uid, panels }, i) =>
      [i === 0 ? 'shown in' : '', `${dashboard} (${uid}): ${panels.join(', ')}`] as const,
  );
  return [
    ...(shown.length === 0 ? [['shown in', 'no dashboard'] as const] : shown),
    ...(rules.length === 0 ? [] : [['used by', rules.join(', ')] as const]),
  ];
}
