/**
 * The names most like one that does not exist, best first: those that share at least a third of their pieces of three
 * characters with it (Dice's coefficient), which forgives a wrong prefix, a lost word and a slip of the finger.
 */
export function nearestNames(wanted: string, names: Iterable<string>, limit: number): string[] {
  const wantedPieces = piecesOf(wanted);
  return [...new Set(names)]
    .map((name) => ({ name, likeness: likeness(wantedPieces, piecesOf(name)) }))
    .filter(({ likeness }) => likeness >= 1 / 3)
    .sort((a, b) => b.likeness - a.likeness || a.name.localeCompare(b.name, 'en'))
    .slice(0, limit)
    .map(({ name }) => name);
}

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
  const text = `  ${words.map((word) => LONG_FORMS[word] ?? word).join('_')} `;
  return new Set(Array.from({ length: text.length - 2 }, (_, i) => text.slice(i, i + 3)));
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((piece) => b.has(piece)).length;
  return (2 * shared) / (a.size + b.size);
}
