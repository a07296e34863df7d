import { describe, expect, test } from '@jest/globals';
import { messageExcerpt } from './message-excerpt.ts';

describe('messageExcerpt', () => {
  test('cuts to 200 characters', () => {
    expect(messageExcerpt('x'.repeat(1000))).toHaveLength(200);
    expect(messageExcerpt('x'.repeat(200))).toBe('x'.repeat(200));
  });

  test('is one line without control characters', () => {
    expect(messageExcerpt('a\r\nb\u001b[31mc\u0000\td')).toBe('a b [31mc d');
  });

  test('shows neither user info nor query of a URL', () => {
    expect(messageExcerpt('GET https://me:pw@host:1/v1?key=abc failed')).toBe('GET https://host:1/v1 failed');
  });

  test('hides secrets that the server repeats', () => {
    expect(messageExcerpt('bad key sk-123456', ['sk-123456', ''])).toBe('bad key ***');
  });
});
