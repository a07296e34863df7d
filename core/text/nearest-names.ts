/** A longer one is no mistyped name, and the distance to it takes long to compute. */
const MAX_NAME = 200;

/**
 * The names most like one that does not exist, best first: those that differ by a slip or two of the finger, then those
 * that share at least a third of their pieces of three characters with it (Dice's coefficient), which forgives a wrong
 * prefix and a lost word.
 */
export function nearestNames(wanted: string, names: Iterable<string>, limit: number): string[] {
  if (wanted === '' || wanted.length > MAX_NAME) return [];
  const wantedPieces = piecesOf(wanted);
  const mostSlips = Math.max(2, wanted.length / 4);
  return [...new Set(names)]
    .map((name) => {
      const distance = editDistance(wanted, name);
      return {
        name,
        likeness: likeness(wantedPieces, piecesOf(name)),
        slips: distance <= mostSlips ? distance : Infinity,
      };
    })
    .filter(({ likeness, slips }) => likeness >= 1 / 3 || slips < Infinity)
    .sort((a, b) => ascending(a.slips, b.slips) || b.likeness - a.likeness || a.name.localeCompare(b.name, 'en'))
    .slice(0, limit)
    .map(({ name }) => name);
}

const ascending = (a: number, b: number): number => (a === b ? 0 : a - b);

/** What people call these, who name the metric from memory. */
const LONG_FORMS: Readonly<Record<string, string>> = {
  ttft: 'time_to_first_token',
  tpot: 'time_per_output_token',
  itl: 'inter_token_latency',
  isl: 'input_sequence',
  osl: 'output_sequence',
};

function piecesOf(name: string): Set<string> {
  const words = name.toLowerCase().split(/[:_]/);
  const text = `  ${words.map((word) => ownValue(LONG_FORMS, word) ?? word).join('_')} `;
  return new Set(Array.from({ length: text.length - 2 }, (_, i) => text.slice(i, i + 3)));
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((piece) => b.has(piece)).length;
  return (2 * shared) / (a.size + b.size);
}

/** Levenshtein distance, where two characters in the wrong order are one slip (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(substitution, swap, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** The member of a table for a name from elsewhere: not what every object has, such as `constructor`. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
