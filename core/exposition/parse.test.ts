import { describe, expect, test } from '@jest/globals';
import { parseExposition } from './parse.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the format by content type', () => {
  test.each<[string | null, string, string | null]>([
    ['text/plain; version=0.0.4; charset=utf-8', 'text-0.0.4', null],
    ['text/plain; version=1.0.0; escaping=allow-utf-8', 'text-0.0.4', null],
    ['Text/Plain', 'text-0.0.4', null],
    ['application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics-1.0.0', null],
    [null, 'text-0.0.4', 'no content type'],
    ['', 'text-0.0.4', 'no content type'],
    ['text/html', 'text-0.0.4', 'unknown content type "text/html"'],
  ])('%s', (contentType, format, formatFallback) => {
    expect(parseExposition(encode('# EOF\n'), contentType)).toMatchObject({ format, formatFallback });
  });
});
