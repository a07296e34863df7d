/**
 * The rows of a CSV text as RFC 4180 has it: quoted fields may hold commas, quotes (doubled) and line ends; lines end with
 * LF or CR LF. Blank lines are rows with one empty field.
 */
export function* csvRows(text: string): Generator<string[]> {
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const { field, end } = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    row.push(field);
    if (text[end] === ',') {
      at = end + 1;
      if (at === text.length) row.push('');
      continue;
    }
    yield row;
    row = [];
    at = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
  }
  if (row.length > 0) yield row;
}

function plainField(text: string, from: number): { field: string; end: number } {
  let end = from;
  while (end < text.length && text[end] !== ',' && text[end] !== '\n' && !isReturn(text, end)) end += 1;
  return { field: text.slice(from, end), end };
}

/** A quote that is never closed takes the rest of the text. */
function quotedField(text: string, from: number): { field: string; end: number } {
  let field = '';
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { field: field + text.slice(at), end: text.length };
    field += text.slice(at, quote);
    if (text[quote + 1] !== '"') {
      const { field: rest, end } = plainField(text, quote + 1);
      return { field: field + rest, end };
    }
    field += '"';
    at = quote + 2;
  }
}

function isReturn(text: string, at: number): boolean {
  return text[at] === '\r' && text[at + 1] === '\n';
}
