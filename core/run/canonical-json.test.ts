import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';

describe('canonicalJson', () => {
  test('the example of RFC 8785, section 3.2.2', () => {
    const value: unknown = JSON.parse(
      String.raw`{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      }`,
    );
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test('the order of names of RFC 8785, section 3.2.3', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    expect(text).toBe(`{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`);
  });

  test('minus zero is 0', () => {
    expect(canonicalJson(-0)).toBe('0');
  });

  test.each([[NaN], [Infinity], [undefined], [1n], ['\ud800'], [{ a: undefined }], [new Date(0)], [[undefined]]])(
    'refuses %p',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(TypeError);
    },
  );

  test('any JSON value comes back, whatever the order of its members', () => {
    const strings = fc.string({ unit: 'grapheme' });
    const value = fc.jsonValue({ stringUnit: 'grapheme' });
    fc.assert(
      fc.property(fc.dictionary(strings, value), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(object));
        expect(JSON.parse(canonicalJson(object))).toEqual(JSON.parse(JSON.stringify(object)));
      }),
    );
  });
});
