import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SseFramer } from './sse-framer.ts';

interface Framed {
  events: string[];
  unterminated: string[];
  /** Lines of the field `error`. */
  errorLines: string[];
  tooLong: number;
}

const text = (bytes: Uint8Array, start: number, end: number): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end));

function frame(pieces: readonly Uint8Array[], limit?: number): Framed {
  const framed: Framed = { events: [], unterminated: [], errorLines: [], tooLong: 0 };
  const framer = new SseFramer(
    {
      event: (_stamp, bytes, start, end) => framed.events.push(text(bytes, start, end)),
      blank: () => undefined,
      unterminated: (_stamp, bytes, start, end) => framed.unterminated.push(text(bytes, start, end)),
      errorLine: (_stamp, bytes, start, end) => framed.errorLines.push(text(bytes, start, end)),
      tooLong: () => framed.tooLong++,
    },
    limit,
  );
  // As from a read buffer: in the middle of other bytes, and written over once the call is done.
  pieces.forEach((piece, i) => {
    const before = i % 3;
    const buffer = Buffer.concat([Buffer.from('\n:').subarray(0, before), piece, Buffer.from('\n\ndata: x\n\n')]);
    framer.push(i, buffer, before, before + piece.length);
    buffer.fill('z');
  });
  framer.end();
  return framed;
}

const frameText = (stream: string): Framed => frame([Buffer.from(stream)]);

/** The standard's own procedure on the whole text, with our two documented differences. */
function reference(stream: string): Framed {
  const lines = stream.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  const framed: Framed = { events: [], unterminated: [], errorLines: [], tooLong: 0 };
  let data: string[] = [];
  const dispatch = (into: string[]): void => {
    const joined = data.join('\n');
    data = [];
    if (joined !== '') into.push(joined);
  };
  const last = lines.pop() ?? '';
  const take = (line: string): void => {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
  };
  for (const line of lines) {
    if (line === '') dispatch(framed.events);
    else take(line);
  }
  if (last !== '') take(last);
  dispatch(framed.unterminated);
  return framed;
}

describe('SSE framing', () => {
  test.each([
    ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\r\n', ['a', 'b', 'c']],
    ['several data lines, joined by LF', 'data: {\ndata: "a":1}\n\n', ['{\n"a":1}']],
    ['comments between and inside events', ': ping\n\n:\n\ndata: a\n: inside\ndata: b\n\n', ['a\nb']],
    ['other fields', 'event: x\nid: 1\nretry: 10\nunknown\ndata: a\n\n', ['a']],
    ['no space after the colon, and two', 'data:x\n\ndata:  x\n\n', ['x', ' x']],
    ['fields that begin like data', 'dat: a\ndatum: b\ndata2: c\n\n', []],
    ['a byte order mark, once', '\ufeffdata: a\n\n\ufeffdata: b\n\n', ['a']],
    ['U+2028, U+2029 and U+0085 are no line ends', 'data: a\u2028b\u2029c\u0085d\n\n', ['a\u2028b\u2029c\u0085d']],
    ['blank lines', '\n\n\n\r\n\r\rdata: a\n\n\n\n', ['a']],
    ['empty data', 'data\n\ndata:\n\ndata: \n\n', []],
    ['NUL', 'data: a\u0000b\n\n', ['a\u0000b']],
    ['[DONE] and its look-alikes as they are', 'data: [DONE]x\n\ndata: [DONE]\n\n', ['[DONE]x', '[DONE]']],
  ])('%s', (_name, stream, events) => {
    expect(frameText(stream)).toEqual({ events, unterminated: [], errorLines: [], tooLong: 0 });
  });

  test('several events in one piece share its stamp', () => {
    const stamps: number[] = [];
    const framer = new SseFramer({
      event: (stamp) => stamps.push(stamp),
      blank: () => undefined,
      unterminated: () => undefined,
      errorLine: () => undefined,
      tooLong: () => undefined,
    });
    framer.push(1, Buffer.from('data: a\n\ndata: b\n\nda'));
    framer.push(2, Buffer.from('ta: c'));
    framer.push(3, Buffer.from('\n'));
    framer.push(4, Buffer.from('\ndata: d\n\n'));
    // c's data were whole with the third piece; the blank line after them carries nothing.
    expect(stamps).toEqual([1, 1, 3, 4]);
  });

  test('invalid UTF-8 becomes the replacement character', () => {
    expect(frame([Buffer.from([...Buffer.from('data: a'), 0xff, ...Buffer.from('b\n\n')])]).events).toEqual([
      'a\ufffdb',
    ]);
  });

  test('an unterminated last event is delivered separately', () => {
    expect(frameText('data: a\n\ndata: {"b":1}')).toEqual({
      events: ['a'],
      unterminated: ['{"b":1}'],
      errorLines: [],
      tooLong: 0,
    });
    expect(frameText('data: a\n\ndata: {"b":1}\n').unterminated).toEqual(['{"b":1}']);
    expect(frameText('data: a\n\nevent: x').unterminated).toEqual([]);
  });

  test('a line of the field error is delivered by itself', () => {
    const framed = frameText('data: a\n\nerror: {"code":500}\n\nerror\nerrors: x\ndata: error: b\n\n');
    expect(framed).toMatchObject({ events: ['a', 'error: b'], errorLines: [' {"code":500}'] });
  });

  test('an event within one piece is not copied', () => {
    const piece = Buffer.from('data: a\n\ndata: b\n\n');
    const owners: Uint8Array[] = [];
    const framer = new SseFramer({
      event: (_stamp, bytes) => owners.push(bytes),
      blank: () => undefined,
      unterminated: () => undefined,
      errorLine: () => undefined,
      tooLong: () => undefined,
    });
    framer.push(0, piece);
    expect(owners).toHaveLength(2);
    expect(owners.every((owner) => owner === piece)).toBe(true);
  });

  test('delivered bytes stay valid while the stream continues', () => {
    const kept: [Uint8Array, number, number][] = [];
    const framer = new SseFramer({
      event: (_stamp, bytes, start, end) => kept.push([bytes, start, end]),
      blank: () => undefined,
      unterminated: () => undefined,
      errorLine: () => undefined,
      tooLong: () => undefined,
    });
    for (const byte of Buffer.from('data: first\n\ndata: second\n\ndata: third\n\n'))
      framer.push(0, Buffer.from([byte]));
    expect(kept.map((range) => text(...range))).toEqual(['first', 'second', 'third']);
  });

  test('a 10 MB event in pieces of 64 KB', () => {
    const stream = Buffer.from(`data: ${'x'.repeat(10_000_000)}\n\ndata: a\n\n`);
    const pieces = Array.from({ length: Math.ceil(stream.length / 65536) }, (_, i) =>
      stream.subarray(i * 65536, (i + 1) * 65536),
    );
    const { events, tooLong } = frame(pieces);
    expect(events.map((event) => event.length)).toEqual([10_000_000, 1]);
    expect(tooLong).toBe(0);
  });

  test('an event beyond the limit ends it, once', () => {
    const pieces = ['data: a\n\n', `data: ${'x'.repeat(60)}`, 'x'.repeat(60), 'x'.repeat(60), '\n\ndata: b\n\n'];
    expect(
      frame(
        pieces.map((piece) => Buffer.from(piece)),
        100,
      ),
    ).toEqual({ events: ['a'], unterminated: [], errorLines: [], tooLong: 1 });
  });
});

const token = fc.constantFrom(
  ...[
    'data',
    ':',
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    'data: ',
    '{"a":"é€😀"}',
    '[DONE]',
    ': ping',
    'id: 1',
    '\ufeff',
    'x',
  ],
);
const stream = fc.array(token, { maxLength: 40 }).map((parts) => parts.join(''));

describe('any split', () => {
  test('whole streams are framed as the standard says', () => {
    fc.assert(fc.property(stream, (whole) => expect(frameText(whole)).toEqual(reference(whole))));
  });

  test('every split of a stream gives the same events', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
          (a, b) => a - b,
        );
        const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        expect(frame(pieces)).toEqual(frame([bytes]));
      }),
    );
  });

  test('one byte at a time', () => {
    fc.assert(
      fc.property(stream, (whole) => {
        const bytes = Buffer.from(whole);
        expect(frame([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(reference(whole));
      }),
    );
  });
});
