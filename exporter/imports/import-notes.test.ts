import { expect, test } from '@jest/globals';
import { ImportNotes, printable } from './import-notes.ts';

test('however often something occurs it is one line, and the number of lines is bounded', () => {
  const notes = new ImportNotes();
  for (let i = 0; i < 100_000; i++) {
    notes.count('records left out: negative latency', `line ${i}`);
    notes.notUnderstood(`key_${i}`);
    notes.add(`remark ${i}`);
    notes.disagreement(`figure ${i}`);
  }
  expect(notes.lines.length).toBeLessThan(50);
  expect(notes.lines[0]).toBe('disagrees: figure 0');
  expect(notes.lines).toContain('100000 × records left out: negative latency (first: line 0)');
  expect(notes.lines.at(-1)).toMatch(/^and \d+ more remarks$/);
});

test('text of a file is shown on one line, without control characters, cut', () => {
  expect(printable('a\nb\u001b[31m\u202e')).toBe('a\u{FFFD}b\u{FFFD}[31m\u{FFFD}');
  expect(printable('x'.repeat(1000))).toHaveLength(201);
});
