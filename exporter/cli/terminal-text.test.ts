import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { progressLines } from './progress/progress-lines.ts';
import { canRedraw, isAsciiOnly, terminalText, writeTerminalText, saidOnce } from './terminal-text.ts';

describe('control characters', () => {
  test.each([
    ['a title and a color', 'a\u001b]0;owned\u0007\u001b[31mb', String.raw`a\x1b]0;owned\x07\x1b[31mb`],
    ['a carriage return that overwrites the line', 'ok\rFAILED', String.raw`ok\x0dFAILED`],
    ['C1 controls', 'a\u009b31mb', String.raw`a\x9b31mb`],
    ['a reversed direction', 'a\u202egpj', String.raw`a\u202egpj`],
    ['a cursor movement within a line', 'a\u001b[1A\u001b[J', String.raw`a\x1b[1A\x1b[J`],
  ])('are shown: %s', (_name, text, shown) => expect(terminalText(text, false)).toBe(shown));

  test.each(['two\nlines\tand a tab\n', 'größe 🟢 …'])('are not found in %j', (text) =>
    expect(terminalText(text, false)).toBe(text),
  );

  test.each(['\r\u001b[4A\u001b[J', '\r\u001b[K'])('of our own progress stay: %j', (text) =>
    expect(terminalText(text, true)).toBe(text),
  );
});

describe('colors', () => {
  const RED = '\u001b[31mNOT MET\u001b[39m';

  test('of our verdicts stay', () => expect(terminalText(`SLO ${RED}: ·\n`, true)).toBe(`SLO ${RED}: |\n`));

  test.each(['\u001b[31mowned\u001b[39m', '\u001b[31mNOT MET', '\u001b[8mNOT MET\u001b[39m'])(
    'of anything else are shown: %j',
    (text) => expect(terminalText(text, false)).not.toContain('\u001b'),
  );
});

describe('ASCII', () => {
  test.each([
    [{ LANG: 'C' }, true],
    [{ LANG: 'POSIX' }, true],
    [{ LANG: 'en_US.ISO-8859-1' }, true],
    [{ LANG: 'C.UTF-8' }, false],
    [{ LANG: 'en_US.utf8', TERM: 'dumb' }, true],
    [{ LANG: 'C', LC_ALL: 'de_DE.UTF-8' }, false],
    [{ LANG: 'de_DE.UTF-8', LC_CTYPE: 'C' }, true],
    [{ TERM: 'xterm' }, false],
    [{}, false],
  ])('only, with %j: %p', (env, expected) => expect(isAsciiOnly(env)).toBe(expected));

  test('progress has no other characters', () => {
    const latency = { p50: 0.000_05, p99: 0.2, trend: [null, 0.1, 0.2, 0.3, 0.5, 0.8, 1, 2, 4] };
    const lines = progressLines({
      ...{ phase: 'measure', plannedRequests: 100, plannedSeconds: null, elapsedSeconds: 5, done: 40, inFlight: 3 },
      ...{ silentSeconds: 20, failures: new Map([['reset', 2]]), recentSeconds: 5, requestsPerSecond: 8 },
      ...{ tokensPerSecond: null, timeToFirstToken: latency, interTokenLatency: latency, servers: null },
    });
    expect(terminalText(lines.join('\n'), true)).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test('a dumb terminal is not redrawn', () => {
    expect(canRedraw({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(canRedraw({ isTTY: true }, { TERM: 'xterm' })).toBe(true);
    expect(canRedraw({ isTTY: false }, { TERM: 'xterm' })).toBe(false);
  });
});

test('texts written to a stream are made printable, bytes are not', () => {
  const out = new PassThrough();
  writeTerminalText(out as unknown as NodeJS.WriteStream, { LANG: 'C' });
  out.write('a · b\u001b[31m\n');
  out.write(Buffer.from('·\n'));
  expect((out.read() as Buffer).toString()).toBe('a | b\\x1b[31m\n·\n');
});

test('a line is shown once, and an explanation once for the figures before it', () => {
  const lines: string[] = [];
  const say = saidOnce((line) => lines.push(line));
  say('no metrics: HTTP 404; trying 5 places');
  say('no metrics: HTTP 404; trying 5 places');
  say('output length: 90 % of the tokens. A response ends early. Use --ignore-eos');
  say('output length: 91 % of the tokens. A response ends early. Use --ignore-eos');
  say('output length: 91 % of the tokens. A response ends early. Use --ignore-eos');
  // What it begins with is known, its explanation is not: a part of it would have no subject.
  say('output length: 91 % of the tokens. The server ignores max_tokens');
  expect(lines).toEqual([
    'no metrics: HTTP 404; trying 5 places',
    'output length: 90 % of the tokens. A response ends early. Use --ignore-eos',
    'output length: 91 % of the tokens.',
    'output length: 91 % of the tokens. The server ignores max_tokens',
  ]);
});
