import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FramingError, KnownHead, type ResponseHead } from './http-head.ts';
import { RawResponseReader } from './response-reader.ts';
import type { ResponseSink } from './response-reader.ts';

interface Read {
  readonly head: ResponseHead | null;
  /** The body as Latin-1. */
  readonly body: string;
  readonly isWhole: boolean;
  /** How many of the bytes belong to the response. */
  readonly bytes: number;
}

/** Reads a response in the pieces given; each is put where the one before was, as in the one buffer of all connections. */
function read(pieces: readonly Buffer[], known = new KnownHead()): Read {
  const buffer = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)) + 3);
  let head: ResponseHead | null = null;
  let body = '';
  let bytes = 0;
  const sink: ResponseSink = {
    head: (given) => {
      if (head !== null) throw new Error('a second head');
      head = given;
    },
    body: (source, start, end) => {
      if (start >= end) throw new Error('nothing of a body');
      body += source.toString('latin1', start, end);
    },
  };
  const reader = new RawResponseReader(sink, known);
  for (const piece of pieces) {
    buffer.fill('\n');
    piece.copy(buffer);
    bytes += reader.read(buffer, piece.length);
  }
  return { head, body, isWhole: reader.isWhole, bytes };
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
}

/** Valid responses with the body that is in them: chunked with extensions and trailers, with a length, until the close. */
const response = fc
  .record({
    informational: fc.subarray(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n']),
    reason: fc.constantFrom(' OK', ' ', '', ' \xe9t\xe9'),
    framing: fc.constantFrom('chunked', 'length', 'until close'),
    body: fc.array(
      fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0', '\0', '\xff', ':'), minLength: 1, maxLength: 40 }),
      { maxLength: 6 },
    ),
    extension: fc.constantFrom('', ';a', ';a="b c"'),
    leadingZeros: fc.constantFrom('', '00'),
    trailers: fc.constantFrom('', 'a: b\r\n', 'a: b\r\nc:\r\n'),
  })
  .map(({ informational, reason, framing, body, extension, leadingZeros, trailers }) => {
    const text = body.join('');
    const start = `${informational.join('')}HTTP/1.1 200${reason}\r\nX-A:  b \r\n`;
    const size = (chunk: string): string => `${leadingZeros}${chunk.length.toString(16)}${extension}\r\n`;
    const chunks = body.map((chunk) => `${size(chunk)}${chunk}\r\n`).join('');
    const rest = {
      chunked: `Transfer-Encoding: Chunked\r\n\r\n${chunks}0${extension}\r\n${trailers}\r\n`,
      length: `content-length: ${text.length}\r\n\r\n${text}`,
      'until close': `\r\n${text}`,
    }[framing];
    return { bytes: latin1(start + (rest ?? '')), body: text, framing };
  });

describe('any split of a valid response', () => {
  test('gives the same head and body', () => {
    fc.assert(
      fc.property(response, fc.array(fc.nat(), { maxLength: 20 }), ({ bytes, body, framing }, cuts) => {
        const got = read(split(bytes, cuts));
        expect(got).toEqual(read([bytes]));
        expect(got.body).toBe(body);
        expect(got.head).toMatchObject({ status: 200, persistent: framing !== 'until close' });
        expect(got.head?.headers['x-a']).toBe('b');
        expect(got.isWhole).toBe(framing !== 'until close');
        expect(got.bytes).toBe(bytes.length);
      }),
      { numRuns: 1000 },
    );
  });

  test('gives the same after any earlier responses', () => {
    fc.assert(
      fc.property(
        fc.array(response, { minLength: 2, maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 3 }),
        (all, cuts) => {
          const known = new KnownHead();
          for (const { bytes } of [...all, ...all]) expect(read(split(bytes, cuts), known)).toEqual(read([bytes]));
        },
      ),
    );
  });

  test('a repeated head is recognized by its bytes, also for several heads', () => {
    const known = new KnownHead();
    const answer = (id: number): Buffer => latin1(`HTTP/1.1 204 No Content\r\nid: ${id}\r\n\r\n`);
    const first = read([answer(0)], known).head;
    expect(read([answer(0)], known).head).toBe(first);
    for (let id = 1; id <= 40; id++) expect(read([answer(id)], known).head?.headers.id).toBe(String(id));
    expect(read([answer(40)], known).head).not.toBe(read([answer(40)], known).head);
  });

  test('byte by byte', () => {
    fc.assert(
      fc.property(response, ({ bytes, body }) => {
        const got = read(Array.from(bytes, (byte) => Buffer.from([byte])));
        expect(got.body).toBe(body);
        expect(got.bytes).toBe(bytes.length);
      }),
    );
  });

  test('leaves what follows it, unless it ends with the connection', () => {
    fc.assert(
      fc.property(response, fc.array(fc.nat(), { maxLength: 5 }), ({ bytes, framing }, cuts) => {
        fc.pre(framing !== 'until close');
        const got = read(split(Buffer.concat([bytes, latin1('HTTP/1.1 200 OK\r\n')]), cuts));
        expect(got.isWhole).toBe(true);
        expect(got.bytes).toBe(bytes.length);
      }),
    );
  });
});

test('bytes changed at random: refused, or read without harm, and the same however they are split', () => {
  const outcome = (pieces: readonly Buffer[]): unknown => {
    try {
      return read(pieces);
    } catch (error) {
      if (error instanceof FramingError) return 'refused';
      throw error;
    }
  };
  const changed = fc
    .tuple(response, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }))
    .map(([{ bytes }, changes]) => {
      const copy = Buffer.from(bytes);
      for (const [place, byte] of changes) copy[place % copy.length] = byte;
      return copy;
    });
  fc.assert(
    fc.property(changed, fc.array(fc.nat(), { maxLength: 10 }), (bytes, cuts) => {
      expect(outcome(split(bytes, cuts))).toEqual(outcome([bytes]));
    }),
    { numRuns: 1000 },
  );
});

describe('limits', () => {
  const refused = (text: string): unknown => {
    try {
      return read([latin1(text)]);
    } catch (error) {
      return (error as Error).message;
    }
  };
  test.each([
    ['headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(3000)}`, 'more than 16384 bytes of header lines'],
    [
      'trailers',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(3000)}`,
      'more than 16384 bytes of header lines',
    ],
    [
      'chunk extensions',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${`1;${'x'.repeat(600)}\r\na\r\n`.repeat(8)}`,
      'too many chunk extensions',
    ],
    [
      "a chunk's size",
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'0'.repeat(14)}`,
      "a chunk's size is too long",
    ],
    ['a length', `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(16)}\r\n\r\n`, 'an invalid content-length'],
  ])('%s', (_name, text, message) => {
    expect(refused(text)).toBe(message);
  });
});
